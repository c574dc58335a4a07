import { Checkbox, type EditorFields, EditorFrame, type EditorProps, SelectField, TextArea, TextField, useMe, visible } from "#plugin/ui"
import { ALERT_TYPES, DEFAULTS } from "../../alerts/alert.ts"
import type { AlertResponse } from "../../alerts/responses.ts"
import { useIntegrations } from "../answers.ts"
import { ALERTS, conditionText, TYPE_LABELS, TYPE_NOTES, type Type, useGoals, windowText } from "./items.ts"

interface Draft {
  type: Type
  threshold: string
  /** Empty for an alert that compares with nothing. */
  factor: string
  window: string
  goalId: string
  /** Email addresses, one per line. */
  addresses: string
  chats: readonly number[]
}

/** Values with which a new alert of a type begins. */
const startOf = (type: Type): Pick<Draft, "threshold" | "window"> => {
  const { threshold, window_minutes } = DEFAULTS[type]
  return { threshold: String(threshold), window: String(window_minutes ?? "") }
}
const WINDOWS = [30, 60, 120, 180, 360, 720, 1_440, 2_880, 4_320, 10_080]
const THRESHOLD_LABELS: Readonly<Record<Exclude<Type, "no_data">, string>> = {
  spike: "Visitors online",
  drop: "Fewer visitors than",
  goal: "Conversions",
  not_found: "Visits to missing pages",
}

/** Dialog that creates or edits an alert. */
export default function AlertEditor(props: EditorProps<AlertResponse>) {
  const own = useMe()?.user.email ?? ""
  const goals = useGoals(props.siteId)
  const goalOf = (id: string) => goals?.find((goal) => String(goal.id) === id)?.name
  return (
    <EditorFrame
      {...props}
      of={ALERTS}
      draftOf={(alert) => draftOf(alert, own)}
      bodyOf={(draft) => bodyOf(draft, props.item)}
      describe={(draft) => [
        ["Fires", conditionText(conditionOf(draft), goalOf(draft.goalId))],
        ["Email addresses", linesIn(draft.addresses).join(", ")],
        ["Chats", draft.chats.join(", ")],
      ]}
    >
      {(fields) => <Fields siteId={props.siteId} isNew={!props.item} goalOf={goalOf} goals={goals ?? []} {...fields} />}
    </EditorFrame>
  )
}

interface FieldsProps extends EditorFields<Draft> {
  siteId: number
  isNew: boolean
  goals: readonly { id: number; name: string }[]
  goalOf(id: string): string | undefined
}

function Fields({ siteId, isNew, goals, goalOf, draft, set, errorOf }: FieldsProps) {
  const { type } = draft
  return (
    <>
      {isNew && (
        <fieldset>
          <legend>Alert on</legend>
          <div class="choice-list">
            {ALERT_TYPES.map((one) => (
              <Checkbox
                key={one}
                name="type"
                label={TYPE_LABELS[one]}
                note={TYPE_NOTES[one]}
                checked={type === one}
                onChange={() => set({ type: one, factor: "", ...startOf(one) })}
              />
            ))}
          </div>
        </fieldset>
      )}
      {type === "goal" && (
        <SelectField
          label="Goal"
          value={draft.goalId}
          options={[
            { value: "", label: goals.length === 0 ? "No goals yet" : "Choose a goal" },
            ...goals.map(({ id, name }) => ({ value: String(id), label: visible(name) })),
          ]}
          onValue={(goalId) => set({ goalId })}
          error={errorOf("/goal_id")}
        />
      )}
      <div class="narrow-fields">
        {type !== "no_data" && (
          <TextField
            label={THRESHOLD_LABELS[type]}
            type="number"
            min={1}
            value={draft.threshold}
            onValue={(threshold) => set({ threshold })}
            error={errorOf("/threshold")}
          />
        )}
        {type === "spike" ? (
          <TextField
            label="Multiple of the usual number (optional)"
            type="number"
            min={1}
            step={0.1}
            value={draft.factor}
            onValue={(factor) => set({ factor })}
            error={errorOf("/factor")}
          />
        ) : (
          <SelectField
            label="Within"
            value={draft.window}
            options={windowsWith(Number(draft.window)).map((minutes) => ({ value: String(minutes), label: windowText(minutes) }))}
            onValue={(window) => set({ window })}
            error={errorOf("/window_minutes")}
          />
        )}
      </div>
      <p class="small quiet" role="status">
        {visible(conditionText(conditionOf(draft), goalOf(draft.goalId)))}. It fires at most twice in 24 hours.
      </p>
      <Channels siteId={siteId} draft={draft} set={set} errorOf={errorOf} />
    </>
  )
}

/** Who receives the messages of an alert. */
function Channels({ siteId, draft, set, errorOf }: EditorFields<Draft> & { siteId: number }) {
  const chats = useIntegrations(siteId).data?.data.filter(({ category }) => category === "chat") ?? []
  const addresses = linesIn(draft.addresses)
  const faulty = addresses.findIndex((_, index) => errorOf(`/channels/${index}/address`) ?? errorOf(`/channels/${index}`))
  const fault = faulty === -1 ? undefined : (errorOf(`/channels/${faulty}/address`) ?? errorOf(`/channels/${faulty}`))
  return (
    <>
      <TextArea
        label="Email addresses"
        value={draft.addresses}
        onValue={(text) => set({ addresses: text })}
        rows={3}
        error={fault ? `${visible(addresses[faulty]!)}: ${fault}` : errorOf("/channels")} // it was found
        note="One address per line. Each must belong to a member with access to this site."
      />
      {chats.length > 0 && (
        <fieldset>
          <legend>Chats</legend>
          <div class="choice-list">
            {chats.map(({ id, name }) => (
              <Checkbox
                key={id}
                label={visible(name)}
                checked={draft.chats.includes(id)}
                onChange={(checked) => set({ chats: checked ? [...draft.chats, id] : draft.chats.filter((one) => one !== id) })}
              />
            ))}
          </div>
        </fieldset>
      )}
      <p class="small quiet">Webhooks and chats subscribed to traffic events are notified as well.</p>
    </>
  )
}

/** Windows to choose from, with the present one if it is another. */
const windowsWith = (present: number): number[] =>
  [...new Set([...WINDOWS, ...(present > 0 ? [present] : [])])].sort((one, other) => one - other)

const linesIn = (text: string): string[] => text.split(/[\s,;]+/).filter((address) => address !== "")

const draftOf = (alert: AlertResponse | undefined, own: string): Draft =>
  alert
    ? {
        type: alert.type,
        threshold: String(alert.threshold),
        factor: alert.factor === null ? "" : String(alert.factor),
        window: String(alert.window_minutes ?? ""),
        goalId: String(alert.goal_id ?? ""),
        addresses: alert.channels.flatMap((channel) => (channel.type === "email" ? [channel.address] : [])).join("\n"),
        chats: alert.channels.flatMap((channel) => (channel.type === "connection" ? [channel.integration_id] : [])),
      }
    : { type: "spike", ...startOf("spike"), factor: "", goalId: "", addresses: own, chats: [] }

/** Returns a number, or the text as it is, so that the server names the fault. */
const numberIn = (text: string): number | string => (text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text)

const conditionOf = ({ type, threshold, factor, window }: Draft) => ({
  type,
  threshold: Number(threshold),
  factor: factor.trim() === "" ? null : Number(factor),
  window_minutes: window === "" ? null : Number(window),
})

/** Returns the body of the request. The type of an alert can't be changed, and only some types have a goal, a factor or a window. */
const bodyOf = ({ type, threshold, factor, window, goalId, addresses, chats }: Draft, item: AlertResponse | undefined) => ({
  ...(!item && { type }),
  ...(type !== "no_data" && { threshold: numberIn(threshold) }),
  ...(type === "spike" ? { factor: factor.trim() === "" ? null : numberIn(factor) } : { window_minutes: numberIn(window) }),
  ...(type === "goal" && { goal_id: goalId === "" ? null : Number(goalId) }),
  channels: [
    ...linesIn(addresses).map((address) => ({ type: "email" as const, address })),
    ...chats.map((integration_id) => ({ type: "connection" as const, integration_id })),
  ],
})
