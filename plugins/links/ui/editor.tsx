import { useState } from "preact/hooks"
import { Checkbox, type EditorFields, EditorFrame, type EditorProps, SelectField, TextArea, TextField, useSite } from "#plugin/ui"
import type { LinkResponse } from "../responses.ts"
import { LINKS, useDomains } from "./answers.ts"
import { CampaignFields } from "./campaign-fields.tsx"
import { bodyOf, describeDraft, draftOf, type LinkDraft } from "./link-draft.ts"
import { RuleList } from "./rule-list.tsx"
import { SlugField } from "./slug-field.tsx"

export type FieldsProps = EditorFields<LinkDraft>

/** Dialog that creates or edits a link. */
export default function Editor(props: EditorProps<LinkResponse>) {
  const { siteId, item: link } = props
  const timezone = useSite(siteId).data?.timezone
  // Start and expiry are shown in the time zone of the site.
  if (timezone === undefined) return null
  return (
    <EditorFrame<LinkResponse, LinkDraft>
      {...props}
      of={LINKS}
      draftOf={(item) => draftOf(item, timezone)}
      bodyOf={(draft) => bodyOf(draft, timezone)}
      describe={describeDraft}
      wide
    >
      {({ problem, ...fields }) => (
        <>
          <MainFields {...fields} siteId={siteId} link={link} problem={problem} />
          <CampaignFields {...fields} siteId={siteId} />
          <LimitFields {...fields} timezone={timezone} hasPassword={link?.has_password ?? false} />
          <RuleList {...fields} />
          <RedirectFields {...fields} />
        </>
      )}
    </EditorFrame>
  )
}

interface MainFieldsProps extends FieldsProps {
  siteId: number
  link: LinkResponse | undefined
  problem: Error | undefined
}

const MainFields = ({ siteId, link, problem, ...fields }: MainFieldsProps) => {
  const { draft, set, errorOf } = fields
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
        <SlugField {...fields} siteId={siteId} own={link} problem={problem} />
        <DomainField {...fields} siteId={siteId} />
        <TextField label="Title" value={draft.title} onValue={(title) => set({ title })} error={errorOf("/title")} maxLength={200} />
        <TextField
          label="Tags"
          value={draft.tags}
          onValue={(tags) => set({ tags })}
          error={errorOf("/tags")}
          note="Separate tags with commas."
          autocomplete="off"
        />
      </div>
    </>
  )
}

/** Choice of a link domain. Hidden if there is none. */
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

/** Fields for the schedule, the click limit and the password of a link. */
function LimitFields({ draft, set, errorOf, timezone, hasPassword }: FieldsProps & { timezone: string; hasPassword: boolean }) {
  const zone = `Time in ${timezone.replaceAll("_", " ")}.`
  const [isUsed] = useState(draft.starts !== "" || draft.expires !== "" || draft.maxClicks !== "" || hasPassword)
  return (
    <details open={isUsed}>
      <summary>Schedule, limit and password</summary>
      <div class="stack details-body">
        <div class="link-builder link-fields">
          <TextField
            label="Starts"
            type="datetime-local"
            value={draft.starts}
            onValue={(starts) => set({ starts })}
            error={errorOf("/starts_at")}
            note={zone}
          />
          <TextField
            label="Expires"
            type="datetime-local"
            value={draft.expires}
            onValue={(expires) => set({ expires })}
            error={errorOf("/expires_at")}
            note={zone}
          />
          <TextField
            label="Maximum clicks"
            type="number"
            min={1}
            value={draft.maxClicks}
            onValue={(maxClicks) => set({ maxClicks })}
            error={errorOf("/max_clicks")}
            note="Only clicks by people count towards the limit."
          />
          <TextField
            label="Destination after expiry"
            type="url"
            code
            value={draft.expiredDestination}
            onValue={(expiredDestination) => set({ expiredDestination })}
            error={errorOf("/expired_destination")}
            note="Leave empty to show a page that says the link is no longer available."
            autocomplete="off"
          />
        </div>
        <TextField
          label={hasPassword ? "New password" : "Password"}
          type="password"
          autocomplete="new-password"
          value={draft.password ?? ""}
          disabled={draft.password === null}
          onValue={(password) => set({ password })}
          error={errorOf("/password")}
          note={
            hasPassword
              ? "Leave empty to keep the current password. After a change, everyone has to enter the new one."
              : "Visitors enter it before they are redirected."
          }
        />
        {hasPassword && (
          <Checkbox
            label="Remove password"
            checked={draft.password === null}
            onChange={(isGone) => set({ password: isGone ? null : "" })}
          />
        )}
      </div>
    </details>
  )
}

const REDIRECTS = [
  { value: "302", label: "302 Temporary" },
  { value: "307", label: "307 Temporary, keeps the request method" },
  { value: "301", label: "301 Permanent, cached for 30 seconds" },
  { value: "308", label: "308 Permanent, keeps the request method" },
]

function RedirectFields({ draft, set, errorOf }: FieldsProps) {
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
        <Checkbox
          label="Forward query parameters"
          note="Adds the query parameters of the short URL to the destination."
          checked={draft.forwardQuery}
          onChange={(forwardQuery) => set({ forwardQuery })}
        />
        <Checkbox
          label="Forward path"
          note="Adds everything after the slug to the path of the destination."
          checked={draft.forwardPath}
          onChange={(forwardPath) => set({ forwardPath })}
        />
        <Checkbox label="Ask search engines not to index this link" checked={draft.noindex} onChange={(noindex) => set({ noindex })} />
        <TextArea label="Notes" value={draft.notes} onValue={(notes) => set({ notes })} error={errorOf("/notes")} rows={3} />
      </div>
    </details>
  )
}
