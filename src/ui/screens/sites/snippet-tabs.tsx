import { useId, useState } from "preact/hooks"
import { ButtonLink } from "../../parts/button.tsx"
import { CopyButton } from "../../parts/copy.tsx"
import { Tabs } from "../../parts/page.tsx"
import { collectOrigin, SNIPPET_NOTES, SNIPPET_TABS, type SnippetSite, type SnippetTab, snippetText } from "./snippets.ts"

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
