import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import type { RetentionPreview, SiteSettingsResponse } from "../../../domain/site-response.ts"
import { get, patch } from "../../api/api.ts"
import { useDebouncedValue } from "../../browser/hooks.ts"
import { Checkbox, TextField } from "../../parts/form/fields.tsx"
import { SectionForm } from "../../parts/form/section-form.tsx"
import { counted, dayText } from "../../text/format.ts"
import { sitePath, useRefreshSite } from "./settings.ts"

/** Renders how visitors are recognized and how long events are kept. */
export function Privacy({ siteId, settings }: { siteId: number; settings: SiteSettingsResponse }) {
  const shared = {
    shown: settings,
    save: (values: object, version: number) => patch(`${sitePath(siteId)}/settings`, { ...values, version }),
    refresh: useRefreshSite(siteId),
  }
  return (
    <>
      <Identity {...shared} />
      <Retention siteId={siteId} {...shared} />
    </>
  )
}

interface Shared {
  shown: SiteSettingsResponse
  save(values: object, version: number): Promise<unknown>
  refresh(): Promise<unknown>
}

const MODES = [
  ["daily", "For one day", "Nothing is stored on the device. Someone who returns tomorrow counts as a new visitor."],
  ["weekly", "For one week", "Nothing is stored on the device. Visitors are recognized within a week, Monday to Sunday."],
  ["monthly", "For one month", "Nothing is stored on the device. Visitors are recognized within a calendar month."],
  [
    "identified",
    "Signed-in users",
    "Users you name with identify() are recognized for as long as data is kept; everyone else for one day. Tell them in your privacy policy.",
  ],
  [
    "persistent",
    "Persistent ID, after consent",
    'Stores a cookie or local storage entry, only after consent("granted"). Most countries require a consent banner for this.',
  ],
] as const

const modeLabel = (mode: string): string => MODES.find(([id]) => id === mode)?.[1] ?? mode

const Identity = ({ save, ...shared }: Shared) => (
  <SectionForm
    {...shared}
    title="How visitors are recognized"
    pick={({ identity_mode, persistent_days, store_user_ids, consent_default }) => ({
      identity_mode,
      days: String(persistent_days),
      store_user_ids,
      consent_default,
    })}
    save={({ days, ...values }, version) => save({ ...values, persistent_days: Number(days) }, version)}
    words={(values) => [
      ["Visitors are recognized", modeLabel(values.identity_mode)],
      ["Persistent ID expires after (days)", values.days],
      ["User IDs are stored", values.store_user_ids ? "yes" : "no"],
      ["Default consent", values.consent_default],
    ]}
  >
    {({ values, set, errorOf }) => (
      <>
        <fieldset class="switches">
          <legend class="visually-hidden">Visitors are recognized</legend>
          {MODES.map(([mode, label, note]) => (
            <Checkbox
              key={mode}
              name="identity_mode"
              label={label}
              note={note}
              checked={values.identity_mode === mode}
              onChange={() => set({ identity_mode: mode })}
            />
          ))}
        </fieldset>
        {values.identity_mode !== shared.shown.identity_mode && (
          <p class="notice" data-kind="warn" role="status">
            Recorded data isn't recounted. Reports that span this change note that visitors were counted in two ways.
          </p>
        )}
        {values.identity_mode === "persistent" && (
          <>
            <TextField
              label="Persistent ID expires after (days)"
              type="number"
              min={1}
              max={395}
              value={values.days}
              onValue={(days) => set({ days })}
              error={errorOf("/persistent_days")}
            />
            <Checkbox
              label="Assume consent until it is denied"
              note="Visitors aren't asked first. Use this only where the law allows it."
              checked={values.consent_default === "granted"}
              onChange={(checked) => set({ consent_default: checked ? "granted" : "denied" })}
            />
          </>
        )}
        {(values.identity_mode === "persistent" || values.identity_mode === "identified") && (
          <Checkbox
            label="Store user IDs"
            note="Lets you find people by the ID you gave them. Otherwise only a key derived from it is stored."
            checked={values.store_user_ids}
            onChange={(store_user_ids) => set({ store_user_ids })}
          />
        )}
      </>
    )}
  </SectionForm>
)

const WAIT_MS = 300

/** Fetches what a retention of `days` would delete, a moment after the last change. */
function usePreview(siteId: number, days: number | null) {
  const rested = useDebouncedValue(days, WAIT_MS)
  const { data, error } = useQuery({
    queryKey: ["site", siteId, "retention-preview", rested],
    queryFn: ({ signal }) => get<RetentionPreview>(`${sitePath(siteId)}/retention-preview?days=${rested}`, signal),
    enabled: rested !== null && rested >= 1 && rested <= MAX_DAYS,
    staleTime: 60_000,
  })
  return { preview: rested === days ? data : undefined, error }
}

const MAX_DAYS = 3_650
const DEFAULT_DAYS = "365"

function Retention({ siteId, save, ...shared }: Shared & { siteId: number }) {
  const pick = ({ retention_days }: SiteSettingsResponse) => ({ days: retention_days === null ? "" : String(retention_days) })
  const [wanted, setWanted] = useState(shared.shown.retention_days)
  const { preview, error } = usePreview(siteId, wanted)
  return (
    <SectionForm
      {...shared}
      title="Data retention"
      pick={pick}
      save={({ days }, version) => save({ retention_days: days === "" ? null : Number(days) }, version)}
      words={({ days }) => [["Days", days === "" ? "instance default" : days]]}
      act={({ days }) => {
        const deleted = days !== "" && preview ? deletedText(preview) : ""
        return deleted === "" ? "Save changes" : `Save and delete ${deleted}`
      }}
    >
      {({ values: { days }, set, errorOf }) => {
        const change = (next: string) => {
          set({ days: next })
          setWanted(next === "" ? null : Number(next))
        }
        return (
          <>
            <fieldset class="switches">
              <legend class="visually-hidden">Retention</legend>
              <Checkbox
                name="retention"
                label="Use the instance default"
                note="Events are kept forever unless the instance admin has set a limit."
                checked={days === ""}
                onChange={() => change("")}
              />
              <Checkbox
                name="retention"
                label="Delete events after a number of days"
                checked={days !== ""}
                onChange={() => change(DEFAULT_DAYS)}
              />
            </fieldset>
            {days !== "" && (
              <>
                <input
                  class="range-input"
                  type="range"
                  aria-label="Days (slider)"
                  min={1}
                  max={MAX_DAYS}
                  value={days}
                  onInput={(event) => change(event.currentTarget.value)}
                />
                <TextField
                  label="Days"
                  type="number"
                  min={1}
                  max={MAX_DAYS}
                  value={days}
                  onValue={(next) => change(next === "" ? "0" : next)}
                  error={errorOf("/retention_days")}
                />
                <p role="status">{error ? "Can't preview what would be deleted right now." : preview ? consequence(preview) : " "}</p>
              </>
            )}
          </>
        )
      }}
    </SectionForm>
  )
}

/** Returns the data that would be deleted, such as `1,204 events and 31 imported days`. "" if there is none. */
const deletedText = ({ events, imported_days = 0 }: RetentionPreview): string =>
  [events > 0 && counted(events, "event"), imported_days > 0 && counted(imported_days, "imported day")].filter(Boolean).join(" and ")

const consequence = (preview: RetentionPreview): string => {
  const { events, visits, imported_days = 0, cutoff_day, first_run_at } = preview
  if (events + imported_days === 0) return `Deletes nothing for now: there is no data before ${dayText(cutoff_day)}.`
  const ofVisits = events > 0 ? [`${counted(events, "event")} from ${counted(visits, "visit")}`] : []
  const imported = imported_days > 0 ? [`the imported history of ${counted(imported_days, "day")}`] : []
  const data = [...ofVisits, ...imported].join(" and ")
  return `${data.charAt(0).toUpperCase()}${data.slice(1)} before ${dayText(cutoff_day)} will be deleted on ${dayText(first_run_at)}.`
}
