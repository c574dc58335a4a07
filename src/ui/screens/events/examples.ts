/** Ways to send an event, as text to copy. */
import { collectOrigin, examplePage, type SnippetSite } from "../sites/snippets.ts"

export const EXAMPLE_TABS = [
  { id: "html", label: "HTML attribute" },
  { id: "js", label: "JavaScript" },
  { id: "server", label: "Server API" },
] as const
export type ExampleTab = (typeof EXAMPLE_TABS)[number]["id"]

export const EXAMPLE_NOTES: Readonly<Record<ExampleTab, string>> = {
  html: "On the element that is clicked, or on a form. The tracker of the page does the rest.",
  js: "Anywhere on a page that has the tracker. Properties and revenue may be left out.",
  server: "For events that a server knows of. It needs an API key with the scope events:write.",
}

export function exampleText(tab: ExampleTab, site: SnippetSite): string {
  if (tab === "html") return '<button data-footfall-event="signup" data-footfall-prop-plan="team">Sign up</button>'
  if (tab === "js") return 'footfall("signup", { props: { plan: "team" }, revenue: { amount: 49.5, currency: "EUR" } })'
  return `curl ${collectOrigin(site)}/api/public/v1/sites/${site.id}/events \\
  -H "Authorization: Bearer $FOOTFALL_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"events": [{"name": "signup", "url": "${examplePage(site)}", "props": {"plan": "team"}}]}'`
}
