"""A control node: who is in the cluster, who owns what, what is wanted, when the crawl is over.

`control_node` composes the parts and runs the loop; each part has its own state and its own file:

    lease            which control node leads            standbys        which control nodes there are
    membership       the crawl nodes and their health    drain           nodes on their way out, by command
    rebalance        who owns which partition            restore         what the engine must hold, put back if lost
    live_settings    the settings of all nodes           backup          this control node's copy of the engine's keys
    seed_queue       seeds on their way to the nodes     resend          links that a wiped engine has lost
    stream_watch     room in the stream of links         termination     whether the crawl is over
    commands         what an operator may order          overview        what an operator sees
    node_requests    questions to nodes                  command_requests  commands that come through the engine

Never on the data's path: nodes go on without a control node.
"""
