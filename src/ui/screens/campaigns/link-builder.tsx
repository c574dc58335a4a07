import { useId, useState } from "preact/hooks"
import type { Suggestions } from "../../../domain/insight.ts"
import { rangeArguments } from "../../../domain/site-address.ts"
import { useSiteAddress } from "../../address.ts"
import { Card } from "../../parts/card.tsx"
import { CopyButton } from "../../parts/copy-button.tsx"
import { TextField } from "../../parts/fields.tsx"
import { visible } from "../../safe-text.ts"
import { useSite } from "../../site.ts"
import { useReport } from "../../stats/use-report.ts"
import { examplePage } from "../sites/snippets.ts"
import { TAGS, type Tags, taggedAddress } from "./tagged-address.ts"

/** Makes the address that a campaign links to; it changes with every letter. */
export function LinkBuilder() {
  const { siteId } = useSiteAddress()
  const { data: site } = useSite(siteId)
  const [page, setPage] = useState<string>()
  const [tags, setTags] = useState<Tags>({})
  const shown = page ?? (site ? examplePage(site) : "")
  const address = taggedAddress(shown, tags)
  const missing = TAGS.find((tag) => "isNeeded" in tag && !tags[tag.id]?.trim())
  return (
    <Card title="Link builder" full>
      <div class="link-builder">
        <TextField
          label="Page"
          type="url"
          value={shown}
          onValue={setPage}
          autocomplete="off"
          {...(shown !== "" && !address && { error: "This is no web address. One looks like https://shop.example/sale." })}
        />
        {TAGS.map((tag) => (
          <TagField key={tag.id} tag={tag} value={tags[tag.id] ?? ""} onValue={(value) => setTags({ ...tags, [tag.id]: value })} />
        ))}
      </div>
      <div class="stack link-made">
        <output class="link-made-text" aria-label="Address with tags">
          {address === undefined ? "–" : visible(address)}
        </output>
        <div class="row">
          {address !== undefined && !missing && <CopyButton text={address} label="Copy address" />}
          {missing && <span class="small quiet">A source is needed: without it nobody can tell where visits come from.</span>}
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

/** With the values of the period as suggestions: a tag that is spelled in two ways is two campaigns. */
function TagField({ tag: { id, label, example }, value, onValue }: TagFieldProps) {
  const { address } = useSiteAddress()
  const list = useId()
  const { data } = useReport("values", { ...rangeArguments({ ...address, filters: [] }), dimension: id, limit: 20 }, { refetchMs: false })
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
