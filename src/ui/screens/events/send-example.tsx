import { useId, useState } from "preact/hooks"
import { useSite } from "../../api/session.ts"
import { CopyButton } from "../../parts/copy.tsx"
import { Card, Tabs } from "../../parts/page.tsx"
import { Answer } from "../../parts/states.tsx"
import { collectOrigin, examplePage, type SnippetSite } from "../sites/snippets.tsx"

/** Shows how to send the first custom event. */
export function SendExample({ siteId }: { siteId: number }) {
  const site = useSite(siteId)
  const [tab, setTab] = useState<ExampleTab>("html")
  const panel = useId()
  return (
    <Card title="Send your first event" full>
      <Answer of={site} rows={4}>
        {(data) => {
          const text = exampleText(tab, data as unknown as SnippetSite) // the private API returns the snippet with the site
          return (
            <div class="stack">
              <p class="quiet">
                Events count actions other than page views, such as sign-ups, orders or clicks. The tracker sends outbound links, downloads
                and forms automatically.
              </p>
              <Tabs<ExampleTab> label="Method" tabs={EXAMPLE_TABS} chosen={tab} onChoose={setTab} panel={panel} />
              <div id={panel} class="stack" role="tabpanel" aria-label={EXAMPLE_TABS.find(({ id }) => id === tab)?.label}>
                <p class="small quiet">{EXAMPLE_NOTES[tab]}</p>
                <pre>{text}</pre>
                <div class="row">
                  <CopyButton text={text} />
                </div>
              </div>
            </div>
          )
        }}
      </Answer>
    </Card>
  )
}

const EXAMPLE_TABS = [
  { id: "html", label: "HTML attribute" },
  { id: "js", label: "JavaScript" },
  { id: "server", label: "Server API" },
] as const
type ExampleTab = (typeof EXAMPLE_TABS)[number]["id"]

const EXAMPLE_NOTES: Readonly<Record<ExampleTab, string>> = {
  html: "Add the attributes to a clickable element or form. The tracker sends the event.",
  js: "Call it anywhere on a page with the tracker. Properties and revenue are optional.",
  server: "For events recorded by your server. Needs an API key with the events:write scope.",
}

function exampleText(tab: ExampleTab, site: SnippetSite): string {
  if (tab === "html") return '<button data-footfall-event="signup" data-footfall-prop-plan="team">Sign up</button>'
  if (tab === "js") return 'footfall("signup", { props: { plan: "team" }, revenue: { amount: 49.5, currency: "EUR" } })'
  return `curl ${collectOrigin(site)}/api/public/v1/sites/${site.id}/events \\
  -H "Authorization: Bearer $FOOTFALL_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"events": [{"name": "signup", "url": "${examplePage(site)}", "props": {"plan": "team"}}]}'`
}
