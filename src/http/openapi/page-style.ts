/** Style of the reference page: one column on narrow screens, navigation on the left on wide ones; light or dark like the system. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --text: #1c2430; --dim: #566273; --page: #fbfcfd; --box: #f0f3f7; --line: #d7dde6; --link: #0b57b0; --get: #0b6b3a; --post: #0b57b0; --patch: #7a4a00; --delete: #a61b1b }
@media (prefers-color-scheme: dark) { :root { --text: #e4e9f0; --dim: #a3afbf; --page: #12161c; --box: #1b212a; --line: #323b48; --link: #7db6ff; --get: #6fd39a; --post: #7db6ff; --patch: #f0bd66; --delete: #ff9c9c } }
* { box-sizing: border-box }
html { scroll-padding-top: 1rem }
body { margin: 0 auto; max-width: 78rem; padding: 1rem; background: var(--page); color: var(--text); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: break-word }
h1 { margin: 0 0 .5rem; font-size: 1.8rem; line-height: 1.2 }
h2 { margin: 2.5rem 0 .5rem; font-size: 1.35rem }
h3 { margin: 0 0 .4rem; font-size: 1.1rem }
h4 { margin: 1.2rem 0 .2rem; font-size: .95rem }
p { margin: .4rem 0; max-width: 46rem }
a { color: var(--link) }
a:focus-visible, summary:focus-visible, [tabindex]:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
small, figcaption { color: var(--dim); font-size: .8rem; font-weight: 400 }
code, pre { font: .85rem/1.5 ui-monospace, monospace }
code { background: var(--box); border-radius: 3px; padding: .1em .3em }
pre { margin: 0; overflow-x: auto; max-height: 26rem; padding: .8rem; background: var(--box); border: 1px solid var(--line); border-radius: 6px }
figure { margin: .4rem 0 }
nav h2 { margin: 1rem 0 .2rem; font-size: .8rem; color: var(--dim) }
nav ul { margin: 0; padding: 0; list-style: none; columns: 2; column-gap: 1rem }
nav li { break-inside: avoid; padding: .25rem 0; font-size: .9rem }
nav a { text-decoration: none }
nav a:hover { text-decoration: underline }
article { margin: 1rem 0; padding: 1rem; border: 1px solid var(--line); border-radius: 8px }
article:target { border-color: var(--link) }
.route code { background: none; padding: 0; font-size: .95rem }
.method { font: 700 .8rem ui-monospace, monospace; padding: .15em .5em; border: 1px solid; border-radius: 4px }
.get { color: var(--get) } .post { color: var(--post) } .patch { color: var(--patch) } .delete { color: var(--delete) }
table { margin: .6rem 0; width: 100%; table-layout: fixed; border-collapse: collapse; font-size: .9rem; overflow-wrap: anywhere }
th, td { padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top }
th { color: var(--dim); font-weight: 500; font-size: .8rem }
th:first-child { width: 26% }
details { margin-top: 1rem }
summary { cursor: pointer; color: var(--link) }
dl { margin: .5rem 0 0; display: grid; grid-template-columns: 3rem 1fr; gap: .2rem .8rem; font-size: .9rem }
dt { font-weight: 600; padding-top: .4rem }
dd { margin: 0 }
.skip { position: absolute; left: -99rem }
.skip:focus { position: static }
@media (max-width: 44rem) {
  article { padding: .8rem; margin-inline: -.3rem }
  table, thead, tbody, tr, td { display: block }
  thead { position: absolute; left: -99rem }
  tr { padding: .5rem 0; border-bottom: 1px solid var(--line) }
  td { border: 0; padding: .1rem 0 }
}
@media (min-width: 64rem) {
  body { display: grid; grid-template-columns: 15rem minmax(0, 1fr); column-gap: 2.5rem; padding: 2rem }
  header { grid-column: 1 / -1 }
  nav { position: sticky; top: 1rem; align-self: start; max-height: calc(100vh - 2rem); overflow-y: auto }
  nav ul { columns: 1 }
  main > section:first-child > h2 { margin-top: 1rem }
}
`
