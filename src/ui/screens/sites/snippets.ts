/** Ways to put a site's tracker on its pages, as text to copy. */
export interface SnippetSite {
  id: number
  hosts: readonly string[]
  tracking_id: string
  snippet: string
}

export const SNIPPET_TABS = [
  { id: "html", label: "HTML" },
  { id: "npm", label: "npm" },
  { id: "server", label: "Server API" },
  { id: "tag-manager", label: "Tag manager" },
  { id: "wordpress", label: "WordPress" },
] as const
export type SnippetTab = (typeof SNIPPET_TABS)[number]["id"]

/** Where the snippet loads its script from. */
const scriptAddress = ({ snippet }: SnippetSite): string => /src="([^"]+)"/.exec(snippet)?.[1] ?? ""

/** The origin that pages of the site talk to. */
export const collectOrigin = (site: SnippetSite): string => URL.parse(scriptAddress(site))?.origin ?? location.origin

/** A page of the site, for examples: its first host. */
export const examplePage = ({ hosts }: Pick<SnippetSite, "hosts">): string =>
  `https://${(hosts[0] ?? "example.com").replace(/^\*\./, "www.")}/`

export function snippetText(tab: SnippetTab, site: SnippetSite): string {
  const origin = collectOrigin(site)
  switch (tab) {
    case "html":
      return site.snippet
    case "npm":
      return `npm install @plausible-analytics/tracker

import { init } from "@plausible-analytics/tracker"

init({
  domain: "${site.tracking_id}",
  endpoint: "${origin}/api/event",
})`
    case "server":
      return `curl ${origin}/api/public/v1/sites/${site.id}/events \\
  -H "Authorization: Bearer $FOOTFALL_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"events": [{"name": "pageview", "url": "${examplePage(site)}"}]}'`
    case "tag-manager":
      return `<script>
  var script = document.createElement("script")
  script.defer = true
  script.src = "${scriptAddress(site)}"
  script.setAttribute("data-site", "${site.tracking_id}")
  document.head.appendChild(script)
</script>`
    case "wordpress":
      return `add_action('wp_head', function () {
  echo '${site.snippet}';
});`
  }
}

/** Where the text goes. */
export const SNIPPET_NOTES: Readonly<Record<SnippetTab, string>> = {
  html: "Put it into the head of every page.",
  npm: "For sites that are built from modules. The library is Plausible's; it sends to this instance.",
  server: "For events that a server knows of. It needs an API key with the scope events:write.",
  "tag-manager": "As a custom HTML tag on all pages. Tag managers drop attributes of script elements, so the tag makes the element itself.",
  wordpress: "Into functions.php of the theme, or into a plugin for code snippets.",
}
