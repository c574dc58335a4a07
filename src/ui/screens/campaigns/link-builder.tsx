import { useId, useState } from "preact/hooks"
import type { Suggestions } from "../../../domain/insight.ts"
import { rangeArguments } from "../../../domain/site-address.ts"
import { useSite } from "../../api/session.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { CopyButton } from "../../parts/copy.tsx"
import { TextField } from "../../parts/form/fields.tsx"
import { Card } from "../../parts/page.tsx"
import { useReport } from "../../report/data/reports.ts"
import { visible } from "../../text/safe-text.tsx"
import { examplePage } from "../sites/snippets.tsx"

/** Builds a URL with campaign tags as the user types. */
export function LinkBuilder() {
  const { siteId } = useSiteAddress()
  const { data: site } = useSite(siteId)
  const [page, setPage] = useState<string>()
  const [tags, setTags] = useState<Tags>({})
  const shown = page ?? (site ? examplePage(site) : "")
  const address = taggedUrl(shown, tags)
  const missing = TAGS.find((tag) => "isNeeded" in tag && !tags[tag.id]?.trim())
  return (
    <Card title="Link builder" full>
      <div class="link-builder">
        <TextField
          label="Page URL"
          type="url"
          value={shown}
          onValue={setPage}
          autocomplete="off"
          {...(shown !== "" && !address && { error: "Enter a full URL, such as https://shop.example/sale." })}
        />
        {TAGS.map((tag) => (
          <TagField key={tag.id} tag={tag} value={tags[tag.id] ?? ""} onValue={(value) => setTags({ ...tags, [tag.id]: value })} />
        ))}
      </div>
      <div class="stack link-made">
        <output class="link-made-text" aria-label="Tagged URL">
          {address === undefined ? "–" : visible(address)}
        </output>
        <div class="row">
          {address !== undefined && !missing && <CopyButton text={address} label="Copy URL" />}
          {missing && <span class="small quiet">Add a source so visits can be attributed.</span>}
        </div>
      </div>
    </Card>
  )
}

interface TagFieldProps {
  tag: (typeof TAGS)[number]
  value: string
  onValue(value: string): void
}

/** Renders a tag field with recorded values as suggestions, because different spellings count as different campaigns. */
function TagField({ tag: { id, label, example }, value, onValue }: TagFieldProps) {
  const { address } = useSiteAddress()
  const list = useId()
  const { data } = useReport(
    "values",
    { ...rangeArguments({ ...address, filters: [], any: [] }), dimension: id, limit: 20 },
    { refetchMs: false },
  )
  return (
    <div>
      <TextField label={label} value={value} onValue={onValue} list={list} placeholder={example} maxLength={200} autocomplete="off" />
      <datalist id={list}>
        {((data as Suggestions | undefined)?.data ?? [])
          .filter((row) => !row.value.startsWith("("))
          .map((row) => (
            <option key={row.value} value={row.value} />
          ))}
      </datalist>
    </div>
  )
}

/** Campaign tags of a URL. */
const TAGS = [
  { id: "utm_source", label: "Source", example: "newsletter", isNeeded: true },
  { id: "utm_medium", label: "Medium", example: "email" },
  { id: "utm_campaign", label: "Campaign", example: "autumn-sale" },
  { id: "utm_term", label: "Term", example: "red shoes" },
  { id: "utm_content", label: "Content", example: "button" },
] as const
type TagId = (typeof TAGS)[number]["id"]
type Tags = Partial<Record<TagId, string>>

/**
 * Returns the URL with its campaign tags replaced. A URL without a scheme is taken as `https`. Undefined if it is not a web URL.
 */
export function taggedUrl(page: string, tags: Tags): string | undefined {
  const text = page.trim()
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:/i.test(text) ? text : `https://${text}`)
  if (text === "" || !url || !/^https?:$/.test(url.protocol) || !url.hostname.includes(".")) return undefined
  for (const { id } of TAGS) {
    const value = tags[id]?.trim()
    if (value) url.searchParams.set(id, value)
    else url.searchParams.delete(id)
  }
  return url.href
}
