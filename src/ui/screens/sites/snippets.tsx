import { useId, useState } from "preact/hooks"
import { isDevelopmentHost } from "../../../domain/site.ts"
import type { SiteResponse } from "../../../domain/site-response.ts"
import { ButtonLink } from "../../parts/button.tsx"
import { CopyButton } from "../../parts/copy.tsx"
import { Tabs } from "../../parts/page.tsx"

/** The fields of a site that its snippets contain. */
type SnippetSite = Pick<SiteResponse, "id" | "hosts" | "tracking_id" | "snippet">

/** Shows the code that installs the tracker, by installation method, to copy. */
export function SnippetTabs({ site }: { site: SnippetSite & { organization: { id: number } } }) {
  const [tab, setTab] = useState<SnippetTab>("html")
  const panel = useId()
  const origin = collectOrigin(site)
  const text = snippetText(tab, site)
  return (
    <div class="stack">
      <Tabs<SnippetTab> label="Installation method" tabs={SNIPPET_TABS} chosen={tab} onChoose={setTab} panel={panel} />
      <div id={panel} class="stack" role="tabpanel" aria-label={SNIPPET_TABS.find(({ id }) => id === tab)?.label}>
        <p class="small quiet">{SNIPPET_NOTES[tab]}</p>
        <pre>{text}</pre>
        <div class="row">
          <CopyButton text={text} />
          {tab === "server" ? (
            <ButtonLink href={`/org/${site.organization.id}/keys`}>API keys</ButtonLink>
          ) : (
            <a class="button" href={mailAddress(text)}>
              Email to a developer
            </a>
          )}
        </div>
        {tab !== "server" && (
          <details class="small">
            <summary>Using a Content-Security-Policy?</summary>
            <p class="quiet">Allow these sources:</p>
            <pre>{tab === "npm" ? `connect-src ${origin}` : `script-src ${origin}; connect-src ${origin}`}</pre>
          </details>
        )}
      </div>
    </div>
  )
}

/** Returns a `mailto:` URL for an email that contains the snippet. */
const mailAddress = (text: string): string =>
  `mailto:?subject=${encodeURIComponent("Footfall snippet for our site")}&body=${encodeURIComponent(`Add this to every page of the site:\r\n\r\n${text.replaceAll("\n", "\r\n")}\r\n`)}`

const SNIPPET_TABS = [
  { id: "html", label: "HTML" },
  { id: "npm", label: "npm" },
  { id: "server", label: "Server API" },
  { id: "tag-manager", label: "Tag manager" },
  { id: "wordpress", label: "WordPress" },
] as const
type SnippetTab = (typeof SNIPPET_TABS)[number]["id"]

/** Returns the URL of the snippet's script. */
const scriptAddress = ({ snippet }: SnippetSite): string => /src="([^"]+)"/.exec(snippet)?.[1] ?? ""

/** Returns whether the site has a local host, where the tracker sends nothing unless it is configured to. */
const isLocal = ({ hosts }: SnippetSite): boolean => hosts.some(isDevelopmentHost)

/** Returns the origin that pages of the site send events to. */
export const collectOrigin = (site: SnippetSite): string => URL.parse(scriptAddress(site))?.origin ?? location.origin

/** Returns the URL of an example page, on the first host of the site. */
export const examplePage = ({ hosts }: Pick<SnippetSite, "hosts">): string =>
  `${hosts[0] && isDevelopmentHost(hosts[0]) ? "http" : "https"}://${(hosts[0] ?? "example.com").replace(/^\*\./, "www.")}/`

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
  endpoint: "${origin}/api/event",${isLocal(site) ? "\n  captureOnLocalhost: true," : ""}
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
  script.setAttribute("data-site", "${site.tracking_id}")${isLocal(site) ? '\n  script.setAttribute("data-local", "")' : ""}
  document.head.appendChild(script)
</script>`
    case "wordpress":
      return `add_action('wp_head', function () {
  echo '${site.snippet}';
});`
  }
}

/** Note next to a request that a server sends. */
export const SERVER_NOTE = "For events recorded by your server. Needs an API key with the events:write scope."

/** Where to add the code, by installation method. */
const SNIPPET_NOTES: Readonly<Record<SnippetTab, string>> = {
  html: "Paste it into the <head> of every page.",
  npm: "For sites that use a bundler. This is Plausible's library, set up to send to this instance.",
  server: SERVER_NOTE,
  "tag-manager":
    "Add it as a custom HTML tag on all pages. Tag managers remove attributes of script elements, so this code creates the element itself.",
  wordpress: "Add it to your theme's functions.php or to a code snippets plugin.",
}
