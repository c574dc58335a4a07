import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { get, patch } from "../../api.ts"
import { counted } from "../../counted.ts"
import { dayText } from "../../format.ts"
import { Choice, TextField } from "../../parts/fields.tsx"
import { useRested } from "../../rested.ts"
import { SectionForm } from "./section-form.tsx"
import { type SettingsShown, sitePath, useRefreshSite } from "./settings.ts"

/** How visitors are told apart, and for how long events are kept. */
export function Privacy({ siteId, settings }: { siteId: number; settings: SettingsShown }) {
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
  shown: SettingsShown
  save(values: object, version: number): Promise<unknown>
  refresh(): Promise<unknown>
}

const MODES = [
  [
    "daily",
    "For a day",
    "Nothing is stored on the device. Who comes back tomorrow is a new visitor, so visitors of several days are a sum of days.",
  ],
  ["weekly", "For a week", "Nothing is stored on the device. Visitors are known within a week, Monday to Sunday."],
  ["monthly", "For a month", "Nothing is stored on the device. Visitors are known within a calendar month."],
  [
    "identified",
    "People you name",
    "As for a day; who is signed in with you and named by identify() is known for as long as data is kept. Tell them so.",
  ],
  [
    "persistent",
    "A lasting id, after consent",
    'A cookie or an entry of local storage, written only after consent("granted"). In most countries this needs a consent dialog.',
  ],
] as const

const modeLabel = (mode: string): string => MODES.find(([id]) => id === mode)?.[1] ?? mode

const Identity = ({ save, ...shared }: Shared) => (
  <SectionForm
    {...shared}
    title="How visitors are told apart"
    pick={({ identity_mode, persistent_days, store_user_ids, consent_default }) => ({
      identity_mode,
      days: String(persistent_days),
      store_user_ids,
      consent_default,
    })}
    save={({ days, ...values }, version) => save({ ...values, persistent_days: Number(days) }, version)}
    words={(values) => [
      ["Visitors are known", modeLabel(values.identity_mode)],
      ["Days of the lasting id", values.days],
      ["User ids are stored", values.store_user_ids ? "yes" : "no"],
      ["Consent before anything is said", values.consent_default],
    ]}
  >
    {({ values, set, errorOf }) => (
      <>
        <fieldset class="switches">
          <legend class="visually-hidden">Visitors are known</legend>
          {MODES.map(([mode, label, note]) => (
            <Choice
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
            What is recorded stays as it was counted. Reports over the change say that visitors were counted in two ways.
          </p>
        )}
        {values.identity_mode === "persistent" && (
          <>
            <TextField
              label="Days until the lasting id expires"
              type="number"
              min={1}
              max={395}
              value={values.days}
              onValue={(days) => set({ days })}
              error={errorOf("/persistent_days")}
            />
            <Choice
              label="Consent counts as given until it is denied"
              note="Only where the law lets you: nobody is asked first."
              checked={values.consent_default === "granted"}
              onChange={(checked) => set({ consent_default: checked ? "granted" : "denied" })}
            />
          </>
        )}
        {(values.identity_mode === "persistent" || values.identity_mode === "identified") && (
          <Choice
            label="Store the user ids themselves"
            note="So that people can be found by the id you gave them. Without this only a key made from it is kept."
            checked={values.store_user_ids}
            onChange={(store_user_ids) => set({ store_user_ids })}
          />
        )}
      </>
    )}
  </SectionForm>
)

interface Preview {
  cutoff_day: string
  events: number
  visits: number
  first_run_at: string
}

const WAIT_MS = 300

/** The consequence of a number of days, asked when it has rested for a moment. */
function usePreview(siteId: number, days: number | null) {
  const rested = useRested(days, WAIT_MS)
  const { data, error } = useQuery({
    queryKey: ["site", siteId, "retention-preview", rested],
    queryFn: ({ signal }) => get<Preview>(`${sitePath(siteId)}/retention-preview?days=${rested}`, signal),
    enabled: rested !== null && rested >= 1 && rested <= MOST_DAYS,
    staleTime: 60_000,
  })
  return { preview: rested === days ? data : undefined, error }
}

const MOST_DAYS = 3_650
const USUAL_DAYS = "365"

function Retention({ siteId, save, ...shared }: Shared & { siteId: number }) {
  const pick = ({ retention_days }: SettingsShown) => ({ days: retention_days === null ? "" : String(retention_days) })
  const [wanted, setWanted] = useState(shared.shown.retention_days)
  const { preview, error } = usePreview(siteId, wanted)
  return (
    <SectionForm
      {...shared}
      title="How long events are kept"
      pick={pick}
      save={({ days }, version) => save({ retention_days: days === "" ? null : Number(days) }, version)}
      words={({ days }) => [["Days", days === "" ? "no limit of its own" : days]]}
      act={({ days }) => (days !== "" && preview && preview.events > 0 ? `Save and delete ${counted(preview.events, "event")}` : "Save")}
    >
      {({ values: { days }, set, errorOf }) => {
        const change = (next: string) => {
          set({ days: next })
          setWanted(next === "" ? null : Number(next))
        }
        return (
          <>
            <fieldset class="switches">
              <legend class="visually-hidden">Events are kept</legend>
              <Choice
                name="retention"
                label="As long as the instance keeps them"
                note="For ever, unless its admin has set a limit."
                checked={days === ""}
                onChange={() => change("")}
              />
              <Choice name="retention" label="For a number of days" checked={days !== ""} onChange={() => change(USUAL_DAYS)} />
            </fieldset>
            {days !== "" && (
              <>
                <input
                  class="range-input"
                  type="range"
                  aria-label="Days, as a slider"
                  min={1}
                  max={MOST_DAYS}
                  value={days}
                  onInput={(event) => change(event.currentTarget.value)}
                />
                <TextField
                  label="Days"
                  type="number"
                  min={1}
                  max={MOST_DAYS}
                  value={days}
                  onValue={(next) => change(next === "" ? "0" : next)}
                  error={errorOf("/retention_days")}
                />
                <p role="status">{error ? "What it would delete cannot be counted now." : preview ? consequence(preview) : " "}</p>
              </>
            )}
          </>
        )
      }}
    </SectionForm>
  )
}

const consequence = ({ events, visits, cutoff_day, first_run_at }: Preview): string =>
  events === 0
    ? `Deletes nothing now: there are no visits before ${dayText(cutoff_day)}.`
    : `Deletes ${counted(events, "event")} of ${counted(visits, "visit")} on ${dayText(first_run_at)}: all before ${dayText(cutoff_day)}.`
