import { useState } from "preact/hooks"
import {
  Button,
  Choice,
  currentOf,
  Dialog,
  Form,
  patch,
  post,
  SelectField,
  type Sent,
  TextArea,
  TextField,
  TwoVersions,
  toast,
  useSite,
  visible,
} from "#plugin/ui"
import { type LinkAnswer, linksPath, useDomains, useRefresh } from "./answers.ts"
import { CampaignFields } from "./campaign-fields.tsx"
import { LimitFields } from "./limit-fields.tsx"
import { bodyOf, changesOf, draftOf, draftWords, type LinkDraft } from "./link-draft.ts"
import { RuleList } from "./rule-list.tsx"
import { SlugField } from "./slug-field.tsx"

interface EditorProps {
  siteId: number
  /** Link to edit. Undefined creates a new one. */
  link?: LinkAnswer
  onSaved?(link: LinkAnswer): void
  onClose(): void
}

/** A link with all that decides where it leads. */
export default function Editor(props: EditorProps) {
  const site = useSite(props.siteId)
  // Times are those of the site's zone: without it none could be shown.
  return site.data ? <Editing {...props} timezone={site.data.timezone} /> : null
}

export interface FieldsProps {
  draft: LinkDraft
  set(changes: Partial<LinkDraft>): void
  errorOf: Sent["errorOf"]
}

function Editing({ siteId, link, timezone, onSaved, onClose }: EditorProps & { timezone: string }) {
  const refresh = useRefresh(siteId)
  const [from] = useState(() => draftOf(link, timezone))
  const [draft, setDraft] = useState(from)
  const [theirs, setTheirs] = useState<LinkAnswer>()
  const set = (changes: Partial<LinkDraft>) => setDraft((before) => ({ ...before, ...changes }))

  const send = (version: number | undefined) =>
    link
      ? patch<LinkAnswer>(`${linksPath(siteId)}/${link.id}`, { ...changesOf(draft, from, timezone), version })
      : post<LinkAnswer>(linksPath(siteId), bodyOf(draft, timezone))
  const save = async (version: number | undefined) => {
    const saved = await send(version)
    await refresh()
    toast(link ? `${visible(saved.slug)} saved` : `${visible(saved.slug)} created`)
    onSaved?.(saved)
    onClose()
  }
  const submit = async () => {
    try {
      await save(link?.version)
    } catch (error) {
      const current = currentOf<LinkAnswer>(error)
      if (!current?.version) throw error
      setTheirs(current)
    }
  }
  if (theirs)
    return (
      <TwoVersions
        mine={draftWords(draft)}
        theirs={draftWords(draftOf(theirs, timezone))}
        onMine={() => save(theirs.version)}
        onTheirs={async () => {
          await refresh()
          onClose()
        }}
        onClose={() => setTheirs(undefined)}
      />
    )
  return (
    <Dialog title={link ? `Edit ${visible(link.slug)}` : "New link"} onClose={onClose} wide>
      <Form submit={submit} label={link ? "Edit link" : "New link"}>
        {({ busy, errorOf, problem }) => {
          const fields = { draft, set, errorOf }
          return (
            <>
              <TextField
                label="Destination"
                type="url"
                code
                autofocus
                value={draft.destination}
                onValue={(destination) => set({ destination })}
                error={errorOf("/destination")}
                note="Full URL. Used exactly as entered."
                placeholder="https://shop.example/sale"
                autocomplete="off"
              />
              <div class="link-builder link-fields">
                <SlugField siteId={siteId} draft={draft} set={set} errorOf={errorOf} own={link} problem={problem} />
                <DomainField siteId={siteId} {...fields} />
                <TextField
                  label="Title"
                  value={draft.title}
                  onValue={(title) => set({ title })}
                  error={errorOf("/title")}
                  maxLength={200}
                />
                <TextField
                  label="Tags"
                  value={draft.tags}
                  onValue={(tags) => set({ tags })}
                  error={errorOf("/tags")}
                  note="Separate tags with commas."
                  autocomplete="off"
                />
              </div>
              <CampaignFields siteId={siteId} {...fields} />
              <LimitFields {...fields} timezone={timezone} hasPassword={link?.has_password ?? false} />
              <RuleList {...fields} />
              <PassingFields {...fields} />
              <div class="dialog-foot">
                <Button onClick={onClose}>Cancel</Button>
                <Button kind="primary" type="submit" busy={busy}>
                  {link ? "Save changes" : "Create link"}
                </Button>
              </div>
            </>
          )
        }}
      </Form>
    </Dialog>
  )
}

/** Only where there is a choice. */
function DomainField({ siteId, draft, set, errorOf }: FieldsProps & { siteId: number }) {
  const domains = (useDomains(siteId).data?.data ?? []).filter(({ verified_at, id }) => verified_at !== null || String(id) === draft.domain)
  if (domains.length === 0) return null
  return (
    <SelectField
      label="Domain"
      value={draft.domain}
      onValue={(domain) => set({ domain })}
      error={errorOf("/domain_id")}
      options={[{ value: "", label: "This instance" }, ...domains.map(({ id, host }) => ({ value: String(id), label: host }))]}
    />
  )
}

const REDIRECTS = [
  { value: "302", label: "302 Temporary" },
  { value: "307", label: "307 Temporary, keeps the request method" },
  { value: "301", label: "301 Permanent, cached for 30 seconds" },
  { value: "308", label: "308 Permanent, keeps the request method" },
]

function PassingFields({ draft, set, errorOf }: FieldsProps) {
  return (
    <details>
      <summary>Redirect and notes</summary>
      <div class="stack details-body">
        <SelectField
          label="Redirect type"
          value={draft.status}
          onValue={(status) => set({ status })}
          options={REDIRECTS}
          error={errorOf("/redirect_status")}
        />
        <Choice
          label="Forward query parameters"
          note="Adds the query parameters of the short URL to the destination."
          checked={draft.forwardQuery}
          onChange={(forwardQuery) => set({ forwardQuery })}
        />
        <Choice
          label="Forward path"
          note="Adds everything after the slug to the path of the destination."
          checked={draft.forwardPath}
          onChange={(forwardPath) => set({ forwardPath })}
        />
        <Choice label="Ask search engines not to index this link" checked={draft.noindex} onChange={(noindex) => set({ noindex })} />
        <TextArea label="Notes" value={draft.notes} onValue={(notes) => set({ notes })} error={errorOf("/notes")} rows={3} />
      </div>
    </details>
  )
}
