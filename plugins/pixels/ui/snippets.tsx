import { useState } from "preact/hooks"
import { Answer, Card, CopyButton } from "#plugin/ui"
import type { SnippetFormat } from "../snippets.ts"
import { type PixelAnswer, useSiteQuery } from "./answers.ts"

const FORMATS: readonly { id: SnippetFormat; label: string }[] = [
  { id: "html", label: "HTML" },
  { id: "markdown", label: "Markdown" },
  { id: "rst", label: "reStructuredText" },
  { id: "bbcode", label: "BBCode" },
]

/** Snippet to paste into an email, feed, README or page. */
export function Snippets({ siteId, pixel }: { siteId: number; pixel: PixelAnswer }) {
  const [format, setFormat] = useState<SnippetFormat>(pixel.kind === "readme" ? "markdown" : "html")
  const snippet = useSiteQuery<{ snippet: string }>(siteId, `pixels/${pixel.id}/snippet?format=${format}`)
  return (
    <Card<SnippetFormat> title="Snippet" foot={<Hints pixel={pixel} />} tabs={FORMATS} chosen={format} onChoose={setFormat}>
      <Answer of={snippet} rows={3}>
        {(shown) => (
          <div class="stack">
            <pre class="snippet" tabIndex={0} aria-label="Snippet">
              {shown.snippet}
            </pre>
            <div class="row">
              <CopyButton text={shown.snippet} label="Copy snippet" />
            </div>
          </div>
        )}
      </Answer>
    </Card>
  )
}

function Hints({ pixel: { allowed_params, recipient_mode } }: { pixel: PixelAnswer }) {
  const named = [...allowed_params.map((name) => `${name}=…`), ...(recipient_mode === "hashed" ? ["r=…"] : [])]
  return named.length === 0 ? (
    <span>The URL changes only when you change the slug.</span>
  ) : (
    <span>
      Add <code>?{named.join("&")}</code> to the URL of the image to distinguish opens.
    </span>
  )
}
