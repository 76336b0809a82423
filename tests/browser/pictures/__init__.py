"""Pictures of the dashboard for the documentation: crawls in each state, shots of pages, sheets of shots."""
