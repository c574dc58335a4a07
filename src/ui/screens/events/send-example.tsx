import { useId, useState } from "preact/hooks"
import { useSite } from "../../api/session.ts"
import { CopyButton } from "../../parts/copy.tsx"
import { Card, Tabs } from "../../parts/page.tsx"
import { Answer } from "../../parts/states.tsx"
import type { SnippetSite } from "../sites/snippets.ts"
import { EXAMPLE_NOTES, EXAMPLE_TABS, type ExampleTab, exampleText } from "./examples.ts"

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
