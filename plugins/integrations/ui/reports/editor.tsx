import { Checkbox, EditorFrame, type EditorProps, SelectField, TextArea, useMe, useSite, visible } from "#plugin/ui"
import { REPORT_KINDS, SECTIONS } from "../../reports/report.ts"
import type { ReportResponse } from "../../reports/responses.ts"
import { useRights } from "../answers.ts"
import { hourText, KIND_LABELS, REPORTS, SECTION_LABELS } from "./items.ts"
import { Preview } from "./preview.tsx"

interface Draft {
  kind: ReportResponse["kind"]
  channel: ReportResponse["channel"]
  hour: number
  /** One address per line. */
  recipients: string
  sections: readonly ReportResponse["sections"][number][]
}

const KINDS = REPORT_KINDS.map((kind) => ({ value: kind, label: KIND_LABELS[kind] }))
const HOURS = Array.from({ length: 24 }, (_, hour) => ({ value: String(hour), label: hourText(hour) }))

/** Returns the addresses in a text, in the order of their lines. */
const addressesIn = (text: string): string[] => text.split(/[\s,;]+/).filter((address) => address !== "")

/** Dialog that creates or edits a report, with a preview of the email. */
export default function ReportEditor(props: EditorProps<ReportResponse>) {
  const { siteId, item } = props
  const { writes } = useRights(siteId)
  const me = useMe()
  const { data: site } = useSite(siteId)
  const own = me?.user.email ?? ""
  return (
    <EditorFrame
      {...props}
      of={REPORTS}
      wide
      draftOf={(report): Draft => ({
        kind: report?.kind ?? "weekly",
        channel: report?.channel ?? "email",
        hour: report?.hour ?? 7,
        recipients: (report?.recipients ?? [own]).join("\n"),
        sections: report?.sections ?? SECTIONS,
      })}
      bodyOf={({ kind, channel, hour, recipients, sections }) => ({
        ...{ kind, channel, hour, sections },
        recipients: channel === "email" ? addressesIn(recipients) : [],
      })}
      describe={({ kind, channel, hour, recipients, sections }) => [
        ["Sent", `${KIND_LABELS[kind]} at ${hourText(hour)}`],
        ["Sent to", channel === "chat" ? "Chats" : addressesIn(recipients).join(", ")],
        ["Contents", sections.map((section) => SECTION_LABELS[section]).join(", ")],
      ]}
    >
      {({ draft, set, errorOf }) => (
        <>
          <div class="narrow-fields">
            <SelectField
              label="Sent"
              value={draft.kind}
              options={KINDS}
              onValue={(kind) => set({ kind: kind as Draft["kind"] })} // one of the options
              error={errorOf("/kind")}
            />
            <SelectField
              label="At"
              value={String(draft.hour)}
              options={HOURS}
              onValue={(hour) => set({ hour: Number(hour) })}
              error={errorOf("/hour")}
              note={site && `In the time zone of the site, ${site.timezone}.`}
            />
          </div>
          {writes && (
            <fieldset>
              <legend>Sent to</legend>
              <div class="choice-list">
                <Checkbox
                  name="channel"
                  label="Email addresses"
                  checked={draft.channel === "email"}
                  onChange={() => set({ channel: "email" })}
                />
                <Checkbox
                  name="channel"
                  label="Chats"
                  note="The connected chats that receive the event Report ready."
                  checked={draft.channel === "chat"}
                  onChange={() => set({ channel: "chat" })}
                />
              </div>
            </fieldset>
          )}
          {!writes ? (
            <p>Sent to {visible(own)}. Each email has a link that unsubscribes you.</p>
          ) : (
            draft.channel === "email" && (
              <TextArea
                label="Recipients"
                value={draft.recipients}
                onValue={(recipients) => set({ recipients })}
                rows={4}
                error={errorOf("/recipients") ?? addressFault(addressesIn(draft.recipients), errorOf)}
                note={<RecipientNote item={item} />}
              />
            )
          )}
          <fieldset>
            <legend>Contents</legend>
            <div class="mapping-rows">
              {SECTIONS.map((section) => (
                <Checkbox
                  key={section}
                  label={SECTION_LABELS[section]}
                  note={section === "revenue" && "Included only if every viewer of this site can see revenue."}
                  checked={draft.sections.includes(section)}
                  onChange={(checked) =>
                    set({ sections: SECTIONS.filter((one) => (one === section ? checked : draft.sections.includes(one))) })
                  }
                />
              ))}
            </div>
            {errorOf("/sections") && <p class="field-error">Choose at least one section.</p>}
          </fieldset>
          <Preview siteId={siteId} kind={draft.kind} sections={draft.sections} />
        </>
      )}
    </EditorFrame>
  )
}

/** Returns the first fault of a single address, with the address. */
function addressFault(addresses: readonly string[], errorOf: (pointer: string) => string | undefined): string | undefined {
  const index = addresses.findIndex((_, at) => errorOf(`/recipients/${at}`))
  return index === -1 ? undefined : `${visible(addresses[index]!)}: ${errorOf(`/recipients/${index}`)}` // it was found
}

/** Help on recipients, and who of them does not receive the report any more. */
function RecipientNote({ item }: { item: ReportResponse | undefined }) {
  const named = (state: "unsubscribed" | "failed") =>
    item?.recipient_states.filter((one) => one.state === state).map(({ email }) => visible(email)) ?? []
  const [unsubscribed, failed] = [named("unsubscribed"), named("failed")]
  return (
    <>
      One address per line, at most 50. They need no account. Each email has a link that unsubscribes its recipient.
      {unsubscribed.length > 0 &&
        ` Unsubscribed: ${unsubscribed.join(", ")}. Only they can subscribe again, with the link in an earlier email.`}
      {failed.length > 0 && ` Refused by their mail server: ${failed.join(", ")}.`}
    </>
  )
}
