/** Code that sends an event, to copy. */
import { collectOrigin, examplePage, type SnippetSite } from "../sites/snippets.ts"

export const EXAMPLE_TABS = [
  { id: "html", label: "HTML attribute" },
  { id: "js", label: "JavaScript" },
  { id: "server", label: "Server API" },
] as const
export type ExampleTab = (typeof EXAMPLE_TABS)[number]["id"]

export const EXAMPLE_NOTES: Readonly<Record<ExampleTab, string>> = {
  html: "Add the attributes to a clickable element or form. The tracker sends the event.",
  js: "Call it anywhere on a page with the tracker. Properties and revenue are optional.",
  server: "For events recorded by your server. Needs an API key with the events:write scope.",
}

export function exampleText(tab: ExampleTab, site: SnippetSite): string {
  if (tab === "html") return '<button data-footfall-event="signup" data-footfall-prop-plan="team">Sign up</button>'
  if (tab === "js") return 'footfall("signup", { props: { plan: "team" }, revenue: { amount: 49.5, currency: "EUR" } })'
  return `curl ${collectOrigin(site)}/api/public/v1/sites/${site.id}/events \\
  -H "Authorization: Bearer $FOOTFALL_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"events": [{"name": "signup", "url": "${examplePage(site)}", "props": {"plan": "team"}}]}'`
}
