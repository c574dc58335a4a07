import { Checkbox, EditorFrame, type EditorProps, QueryResult, TextField } from "#plugin/ui"
import type { WebhookResponse } from "../../webhooks/responses.ts"
import { SCOPE_LABELS, useManagesOrganization } from "../answers.ts"
import { EventChoice } from "../events/event-choice.tsx"
import { type EventFacts, eventsText, useEvents } from "../events/events.ts"
import { WEBHOOKS } from "./items.tsx"

interface Draft {
  url: string
  description: string
  events: readonly string[]
  scope: WebhookResponse["scope"]
}

/** Dialog that creates or edits a webhook. The stored URL is a secret, so an edit shows only its label. */
export default function WebhookEditor(props: EditorProps<WebhookResponse>) {
  const managesOrganization = useManagesOrganization(props.siteId, "webhooks:write")
  const events = useEvents()
  const { item } = props
  return (
    <EditorFrame
      {...props}
      of={WEBHOOKS}
      wide
      draftOf={(webhook): Draft => ({
        url: "",
        description: webhook?.description ?? "",
        events: webhook?.events ?? ["*"],
        scope: webhook?.scope ?? "site",
      })}
      bodyOf={({ url, description, events, scope }) => ({
        ...((url.trim() || !item) && { url: url.trim() }),
        ...{ description: description.trim(), events },
        ...(!item && { scope }),
      })}
      describe={({ url, description, events: chosen }) => [
        ["URL", url || "Unchanged"],
        ["Description", description],
        ["Events", eventsText(chosen, events.data)],
      ]}
    >
      {({ draft, set, errorOf }) => (
        <>
          <TextField
            label="URL"
            type="url"
            value={draft.url}
            onValue={(url) => set({ url })}
            error={errorOf("/url")}
            placeholder="https://example.com/webhooks/footfall"
            note={
              item
                ? `Stored: ${item.url}. Leave empty to keep it.`
                : "Receives a signed POST request for each event. Treated as a secret and not shown again in full."
            }
            autocomplete="off"
            code
            autofocus
          />
          <TextField
            label="Description (optional)"
            value={draft.description}
            onValue={(description) => set({ description })}
            error={errorOf("/description")}
            maxLength={200}
          />
          {!item && managesOrganization && (
            <fieldset>
              <legend>Events from</legend>
              <div class="choice-list">
                {(["site", "organization"] as const).map((scope) => (
                  <Checkbox
                    key={scope}
                    name="scope"
                    label={SCOPE_LABELS[scope]}
                    note={scope === "organization" && "Includes events that belong to no site, such as new members and API keys."}
                    checked={draft.scope === scope}
                    onChange={() => set({ scope })}
                  />
                ))}
              </div>
            </fieldset>
          )}
          <QueryResult of={events} rows={5}>
            {(known) => (
              <EventFields known={known} chosen={draft.events} error={errorOf("/events")} onChosen={(events) => set({ events })} />
            )}
          </QueryResult>
        </>
      )}
    </EditorFrame>
  )
}

interface EventFieldsProps {
  known: readonly EventFacts[]
  chosen: readonly string[]
  error: string | undefined
  onChosen(chosen: string[]): void
}

/** The choice between all events and single ones. Events that `*` leaves out can be added to all. */
function EventFields({ known, chosen, error, onChosen }: EventFieldsProps) {
  const isAll = chosen.includes("*")
  const byName = known.filter(({ only_by_name }) => only_by_name)
  const shown = isAll ? byName : known
  return (
    <div class="stack">
      <fieldset>
        <legend>Events</legend>
        <div class="choice-list">
          <Checkbox
            name="events"
            label="All events"
            note={
              byName.length === 0
                ? "Includes events added in future versions."
                : `Includes events added in future versions. Doesn't include frequent events: ${byName.map(({ title }) => title.toLowerCase()).join(", ")}.`
            }
            checked={isAll}
            onChange={() => onChosen(["*", ...chosen.filter((event) => byName.some((one) => one.event === event))])}
          />
          <Checkbox
            name="events"
            label="Selected events"
            checked={!isAll}
            onChange={() => onChosen(chosen.filter((event) => event !== "*"))}
          />
        </div>
        {error && <p class="field-error">{error}</p>}
      </fieldset>
      {shown.length > 0 && <EventChoice events={shown} chosen={chosen} onChosen={onChosen} hasFields />}
    </div>
  )
}
