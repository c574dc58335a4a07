import { useId, useState } from "preact/hooks"
import { ButtonLink } from "../../parts/button.tsx"
import { CopyButton } from "../../parts/copy-button.tsx"
import { Tabs } from "../../parts/tabs.tsx"
import { collectOrigin, SNIPPET_NOTES, SNIPPET_TABS, type SnippetSite, type SnippetTab, snippetText } from "./snippets.ts"

/** The tracker in the forms that pages take it in, to copy. */
export function SnippetTabs({ site }: { site: SnippetSite & { organization: { id: number } } }) {
  const [tab, setTab] = useState<SnippetTab>("html")
  const panel = useId()
  const origin = collectOrigin(site)
  const text = snippetText(tab, site)
  return (
    <div class="stack">
      <Tabs<SnippetTab> label="Ways to add the tracker" tabs={SNIPPET_TABS} chosen={tab} onChoose={setTab} panel={panel} />
      <div id={panel} class="stack" role="tabpanel" aria-label={SNIPPET_TABS.find(({ id }) => id === tab)?.label}>
        <p class="small quiet">{SNIPPET_NOTES[tab]}</p>
        <pre>{text}</pre>
        <div class="row">
          <CopyButton text={text} />
          {tab === "server" ? (
            <ButtonLink href={`/org/${site.organization.id}/keys`}>API keys</ButtonLink>
          ) : (
            <a class="button" href={mailAddress(text)}>
              Mail to a colleague
            </a>
          )}
        </div>
        {tab !== "server" && (
          <details class="small">
            <summary>The pages have a content security policy</summary>
            <p class="quiet">Let it allow these two:</p>
            <pre>{tab === "npm" ? `connect-src ${origin}` : `script-src ${origin}; connect-src ${origin}`}</pre>
          </details>
        )}
      </div>
    </div>
  )
}

/** A letter with the text in it, for the mail program. */
const mailAddress = (text: string): string =>
  `mailto:?subject=${encodeURIComponent("Please add this to our pages")}&body=${encodeURIComponent(`Please add this to every page:\r\n\r\n${text.replaceAll("\n", "\r\n")}\r\n`)}`
