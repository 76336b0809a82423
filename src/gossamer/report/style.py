"""The look of the HTML report: light or dark as the reader's system is, narrow or wide, on paper too."""

from typing import Final

CSS: Final = """
:root { color-scheme: light dark;
  --ground: #f5f6f7; --card: #ffffff; --line: #dfe3e7; --ink: #18202a; --soft: #55606d; --accent: #0b6b75;
  --done: #14916a; --refused: #d08a00; --failed: #d6403f; --pages: #2372c9; --calm: #eaedf0;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace; }
@media (prefers-color-scheme: dark) { :root {
  --ground: #11161b; --card: #1a2128; --line: #2c353e; --ink: #e6eaee; --soft: #a0abb6; --accent: #57c3cd;
  --done: #2fb48a; --refused: #e0a532; --failed: #ee6b66; --pages: #4f98ea; --calm: #29323b; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.75rem 1.25rem 3rem; max-width: 1080px; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
  font-variant-numeric: tabular-nums; -webkit-text-size-adjust: 100%; }
h1 { font-size: 1.55rem; line-height: 1.25; margin: 0 0 .3rem; letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 0 0 .7rem; }
h3 { font-size: .87rem; color: var(--soft); font-weight: 550; margin: 1rem 0 .3rem; }
p { margin: 0 0 .5rem; }
a { color: var(--accent); }
.brand { color: var(--accent); font-weight: 650; margin-bottom: .3rem; }
.soft, .unit { color: var(--soft); font-size: .87rem; font-weight: 400; }
.web, code { font-family: var(--mono); font-size: .88em; overflow-wrap: anywhere; }
.pill { display: inline-block; padding: .05rem .6rem; border-radius: 99px; background: var(--calm); color: var(--soft);
  font-size: .82rem; font-weight: 600; vertical-align: middle; white-space: nowrap; }
.pill.finished { background: var(--done); color: var(--card); } .pill.running { background: var(--pages); color: var(--card); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.15rem; margin: 0 0 1rem; min-width: 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: .75rem; margin: 1.25rem 0 1rem; }
.tiles .card { margin: 0; padding: .75rem 1rem; }
.tiles h2 { font-size: .82rem; color: var(--soft); font-weight: 550; margin: 0; }
.tiles p { margin: 0; } .tiles p:empty { display: none; }
.big { font-size: 1.5rem; font-weight: 620; line-height: 1.3; margin: 0; }
.halves { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 1rem; margin-bottom: 1rem; }
.halves > .card { margin: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child td { border-bottom: 0; }
th { color: var(--soft); font-weight: 550; font-size: .82rem; white-space: nowrap; }
td.n, th.n { text-align: right; white-space: nowrap; }
td.name { white-space: nowrap; } td.host { min-width: 9rem; }
td.wide { width: 45%; }
.bar { display: block; height: .7rem; margin-top: .4rem; border-radius: 2px; background: var(--c, var(--pages)); min-width: 2px; }
.done { --c: var(--done); } .refused { --c: var(--refused); } .failed { --c: var(--failed); } .pages { --c: var(--pages); }
.parts { display: block; width: 100%; min-width: 6rem; height: .7rem; margin-top: .4rem; }
td.bars { width: 30%; }
figure { margin: 0; } figcaption { font-weight: 620; margin-bottom: .5rem; }
.frame { display: grid; grid-template-columns: auto 1fr; gap: 0 .5rem; }
.ys { display: flex; flex-direction: column; justify-content: space-between; text-align: right; color: var(--soft); font-size: .78rem; line-height: 1; }
.frame svg { width: 100%; height: 150px; display: block; overflow: visible; }
.xs { grid-column: 2; display: flex; justify-content: space-between; gap: 1rem; color: var(--soft); font-size: .78rem; margin-top: .35rem; }
.xs.each { gap: 0; } .xs.each span { flex: 1; text-align: center; }
svg rect, svg .area { fill: var(--c); } svg .grid { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
.keys { display: flex; flex-wrap: wrap; gap: .2rem 1rem; margin-top: .5rem; font-size: .82rem; color: var(--soft); }
.keys + .scroll { margin-top: .4rem; }
.keys span::before { content: ""; display: inline-block; width: .7rem; height: .7rem; border-radius: 2px; background: var(--c); margin-right: .4rem; }
dl { margin: 0; display: grid; grid-template-columns: minmax(7rem, auto) 1fr; gap: .3rem 1rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
.change { display: block; color: var(--soft); font-size: .87rem; }
.sum { margin: .6rem 0 0; }
.note { border-left: 3px solid var(--refused); padding-left: .75rem; }
summary { cursor: pointer; font-weight: 620; } details[open] summary { margin-bottom: .7rem; }
footer { margin-top: 2rem; color: var(--soft); font-size: .87rem; }
@media (max-width: 560px) { body { padding: 1rem .75rem 2rem; } .card { padding: .85rem; } .tiles { grid-template-columns: 1fr 1fr; }
  .facts tr { display: grid; grid-template-columns: auto 1fr; border-bottom: 1px solid var(--line); padding: .3rem 0; }
  .facts tr:last-child { border-bottom: 0; } .facts td { border: 0; padding: 0 .75rem 0 0; } .facts td.wide, .facts td.why, .facts td.bars, .facts td.soft { grid-column: 1 / -1; width: auto; }
  .facts td.name + td.n { text-align: right; } .facts .bar, .facts .parts { margin: .2rem 0; }
  .hosts thead { display: none; } .hosts tr { display: flex; flex-wrap: wrap; gap: 0 1rem; padding: .35rem 0; border-bottom: 1px solid var(--line); }
  .hosts tr:last-child { border-bottom: 0; } .hosts td { border: 0; padding: 0; } .hosts td.host, .hosts td.bars { flex-basis: 100%; } .hosts td[data-name]::before { content: attr(data-name) " "; color: var(--soft); font-size: .82rem; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } .frame svg { height: 120px; } }
@media print { :root { color-scheme: light; } body { max-width: none; background: #fff; padding: 0; font-size: 12px; }
  .card { break-inside: avoid; } .bar, rect, .keys span::before, .pill { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""
