import { useId, useState } from "preact/hooks"
import { Answer } from "../../parts/answer.tsx"
import { Card } from "../../parts/card.tsx"
import { CopyButton } from "../../parts/copy-button.tsx"
import { Tabs } from "../../parts/tabs.tsx"
import { useSite } from "../../site.ts"
import type { SnippetSite } from "../sites/snippets.ts"
import { EXAMPLE_NOTES, EXAMPLE_TABS, type ExampleTab, exampleText } from "./examples.ts"

/** How a site without events comes to have some. */
export function SendExample({ siteId }: { siteId: number }) {
  const site = useSite(siteId)
  const [tab, setTab] = useState<ExampleTab>("html")
  const panel = useId()
  return (
    <Card title="Send the first event" full>
      <Answer of={site} rows={4}>
        {(data) => {
          const text = exampleText(tab, data as unknown as SnippetSite) // a site as the private API shows it has its snippet
          return (
            <div class="stack">
              <p class="quiet">
                An event is anything worth counting beside a view: a sign-up, an order, a click. Links to other sites, downloads and forms
                are sent by the tracker itself.
              </p>
              <Tabs<ExampleTab> label="Ways to send an event" tabs={EXAMPLE_TABS} chosen={tab} onChoose={setTab} panel={panel} />
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
