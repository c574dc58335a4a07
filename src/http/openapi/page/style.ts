/**
 * Style of the reference page, in the colours of the dashboard. Narrow screens have one column with a folded index, wide ones have the index
 * on the left, and the widest also the examples on the right.
 */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --bg: #f7f6f3; --surface: #fff; --ink: #1c1b19; --ink-2: #55524c; --ink-3: #6b675f; --line: #e4e1da; --accent: #0b5d57; --tint: #e6f1ef; --focus: #1d4fd7; --code: #efede8; --code-ink: #1c1b19; --code-key: #0b5d57; --get: #0b5d57; --post: #3f5673; --patch: #8a5a00; --delete: #a3261b }
@media (prefers-color-scheme: dark) { :root { --bg: #131412; --surface: #1b1c1a; --ink: #f0eee9; --ink-2: #b9b5ac; --ink-3: #98948a; --line: #30312d; --accent: #5fd0c3; --tint: #1c2f2c; --focus: #9bb8ff; --code: #1f201d; --code-ink: #f0eee9; --code-key: #5fd0c3; --get: #5fd0c3; --post: #9db3d0; --patch: #f0b84a; --delete: #ff8f82 } }
* { box-sizing: border-box }
html { scroll-padding-top: 1.5rem }
body { margin: 0; background: var(--bg); color: var(--ink); font: .9375rem/1.6 "Hanken Grotesk", system-ui, sans-serif; overflow-wrap: break-word }
h1, h2, h3, h4 { line-height: 1.25; text-wrap: balance }
h1 { margin: 0 0 .75rem; font-size: 1.9rem; letter-spacing: -.02em }
h2 { margin: 0 0 .6rem; font-size: 1.5rem; letter-spacing: -.015em }
h3 { margin: 0 0 .5rem; font-size: 1.2rem; letter-spacing: -.01em }
h3 a { color: inherit; text-decoration: none }
h3 a:hover { text-decoration: underline }
h4 { margin: 1.75rem 0 .4rem; padding-bottom: .4rem; border-bottom: 1px solid var(--line); font-size: .9375rem }
.guide h3 { margin-top: 2rem; font-size: 1.05rem }
p { margin: .5rem 0; max-width: 44rem }
a { color: var(--accent); text-underline-offset: .15em }
a:focus-visible, summary:focus-visible, [tabindex]:focus-visible, button:focus-visible, input:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px }
small { color: var(--ink-3); font-size: .8125rem; font-weight: 400 }
code, pre { font: .8125rem/1.6 ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace }
:not(pre) > code { padding: .1em .3em; border-radius: 4px; background: var(--code); overflow-wrap: anywhere }
.name code, .route code, nav code { padding: 0; background: none }
.name code { font-weight: 700 }
nav { padding: 0 1rem; border-bottom: 1px solid var(--line) }
nav summary { padding: .9rem 0; font-weight: 600; cursor: pointer }
nav h2 { margin: 1.25rem 0 .25rem; color: var(--ink-3); font-size: .8125rem; letter-spacing: 0 }
nav ul { margin: 0; padding: 0; list-style: none }
nav a { display: block; padding: .3rem .6rem; border-radius: 6px; color: var(--ink-2); font-size: .875rem; line-height: 1.4; text-decoration: none }
nav a:hover { color: var(--ink); background: var(--code) }
nav a[aria-current] { color: var(--accent); background: var(--tint); font-weight: 600 }
nav input { width: 100%; margin: .25rem 0; padding: .5rem .7rem; border: 1px solid var(--ink-3); border-radius: 8px; background: var(--surface); color: inherit; font: inherit }
.hint { margin: .25rem .1rem; color: var(--ink-3); font-size: .8125rem }
.hint:empty { display: none }
[hidden] { display: none }
main { padding: 1.5rem 1rem 6rem }
section { margin-bottom: 4rem }
article { margin-top: 2.5rem; padding-top: 2.5rem; border-top: 1px solid var(--line) }
.method { font: 700 .75rem/1.6 ui-monospace, "SF Mono", "DejaVu Sans Mono", monospace }
.get { color: var(--get) } .post, .put { color: var(--post) } .patch { color: var(--patch) } .delete { color: var(--delete) }
.route { padding: .55rem .75rem; border: 1px solid var(--line); border-radius: 8px; background: var(--surface) }
.scopes, .facts { color: var(--ink-2); font-size: .875rem }
.fields { margin: 0; padding: 0; list-style: none }
.fields li { padding: .75rem 0; border-bottom: 1px solid var(--line) }
.fields li:last-child { border-bottom: 0 }
.fields p { margin: .15rem 0 }
.type { margin-left: .35rem; color: var(--ink-3); font-size: .8125rem }
.required { margin-left: .35rem; color: var(--patch); font-size: .8125rem; font-weight: 600 }
details details { margin-top: .5rem; padding: 0 .9rem; border: 1px solid var(--line); border-radius: 8px; background: var(--surface) }
.fields > li > details { margin-top: .5rem; padding: 0 .9rem; border: 1px solid var(--line); border-radius: 8px; background: var(--surface) }
.fields summary { padding: .45rem 0; color: var(--accent); font-size: .875rem; cursor: pointer }
figure { margin: .75rem 0; overflow: hidden; border: 1px solid var(--line); border-radius: 10px; background: var(--code); color: var(--code-ink) }
figcaption { display: flex; align-items: center; justify-content: space-between; min-height: 2.4rem; padding: .25rem .9rem; border-bottom: 1px solid var(--line); color: var(--ink-2); font-size: .8125rem; font-weight: 600 }
figure button { padding: .2rem .6rem; border: 1px solid var(--line); border-radius: 6px; background: var(--surface); color: var(--ink); font: inherit; cursor: pointer }
pre { margin: 0; max-height: 30rem; padding: .8rem .9rem; overflow: auto }
.examples figure:first-child pre { white-space: pre-wrap; overflow-wrap: anywhere }
pre span { color: var(--code-key) }
table { width: 100%; margin: .75rem 0; border-collapse: collapse; font-size: .875rem }
th, td { padding: .5rem 1rem .5rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: anywhere }
td:first-child { min-width: 10rem }
th { color: var(--ink-3); font-weight: 500 }
.skip { position: absolute; left: -99rem }
.skip:focus { position: static }
@media (max-width: 44rem) {
  table, thead, tbody, tr, td { display: block }
  thead { position: absolute; left: -99rem }
  tr { padding: .6rem 0; border-bottom: 1px solid var(--line) }
  td { padding: .1rem 0; border: 0 }
}
@media (min-width: 64rem) {
  body { display: grid; grid-template-columns: 17rem minmax(0, 1fr) }
  nav { position: sticky; top: 0; height: 100vh; padding: .5rem 1rem 3rem 1.25rem; overflow-y: auto; border: 0; border-right: 1px solid var(--line) }
  nav details[open] > summary { display: none }
  main { max-width: 90rem; padding: 2.5rem 3rem 8rem }
}
@media (min-width: 76rem) {
  article { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 30rem); column-gap: 3rem }
  article > .examples { position: sticky; top: 1.5rem; align-self: start; max-height: calc(100vh - 3rem); overflow-y: auto }
  .examples pre { max-height: 22rem }
}
@media print { nav { display: none } body { display: block } pre { max-height: none; white-space: pre-wrap } }
`
