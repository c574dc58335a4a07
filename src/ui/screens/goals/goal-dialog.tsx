import { useState } from "preact/hooks"
import type { OwnGoalResponse } from "../../../domain/goal.ts"
import { Problem, patch, post } from "../../api/api.ts"
import { Button, IconButton } from "../../parts/button.tsx"
import { currentVersion, VersionConflict } from "../../parts/confirm.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { Checkbox, SelectField, TextField } from "../../parts/form/fields.tsx"
import { Form, type Sent } from "../../parts/form/form.tsx"
import { errorText } from "../../parts/states.tsx"
import { toast } from "../../parts/toasts.tsx"
import { MatchValueField, PropertyKeyField } from "../../report/filters/suggestion-fields.tsx"
import { visible } from "../../text/safe-text.tsx"
import { goalsPath, trialText, tryGoal, useRefreshGoals } from "./goal-requests.tsx"
import { draftOf, EMPTY_DRAFT, type GoalDraft, inputOf, KIND_LABELS, MATCH_LABELS, PRESETS, ruleText } from "./goal-rule.ts"

interface GoalDialogProps {
  siteId: number
  /** Goal to edit, or undefined for a new one. */
  goal?: OwnGoalResponse
  /** Initial values of a new goal. */
  draft?: Partial<GoalDraft>
  onClose(): void
}

/** Adds or edits a goal. It can be tested on past data before it is saved. */
export default function GoalDialog({ siteId, goal, draft: given, onClose }: GoalDialogProps) {
  const refresh = useRefreshGoals(siteId)
  const [draft, setDraft] = useState<GoalDraft>(goal ? draftOf(goal) : { ...EMPTY_DRAFT, ...given })
  const [stale, setStale] = useState<OwnGoalResponse>()
  const save = async (version = goal?.version) => {
    const input = inputOf(draft)
    const saved = goal
      ? await patch<OwnGoalResponse>(`${goalsPath(siteId)}/${goal.id}`, { ...input, version })
      : await post<OwnGoalResponse>(goalsPath(siteId), input)
    await refresh()
    toast(`Goal ${visible(saved.name)} saved`)
    onClose()
  }
  if (stale)
    return (
      <VersionConflict
        mine={facts({ ...goal!, ...inputOf(draft), match: draft.match })}
        theirs={facts(stale)}
        onMine={() => save(stale.version)}
        onTheirs={async () => {
          await refresh()
          onClose()
        }}
        onClose={() => setStale(undefined)}
      />
    )
  return (
    <Dialog title={goal ? "Edit goal" : "Add goal"} onClose={onClose}>
      <Form
        submit={() =>
          save().catch((error) => {
            const current = currentVersion<OwnGoalResponse>(error)
            if (!current) throw error
            setStale(current)
          })
        }
      >
        {({ busy, errorOf }) => (
          <>
            {!goal && <Presets onDraft={setDraft} />}
            <GoalFields isNew={!goal} draft={draft} onDraft={setDraft} errorOf={errorOf} />
            <Trial siteId={siteId} draft={draft} />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy} disabled={draft.value === ""}>
                {goal ? "Save changes" : "Add goal"}
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

const facts = (goal: OwnGoalResponse) =>
  [
    ["Name", visible(goal.name)],
    ["Rule", ruleText(goal)],
  ] as const

const Presets = ({ onDraft }: { onDraft(draft: GoalDraft): void }) => (
  <div class="row" role="group" aria-label="Start from">
    <span class="small quiet">Start from</span>
    {PRESETS.map(({ id, label, draft }) => (
      <Button key={id} onClick={() => onDraft(draft)}>
        {label}
      </Button>
    ))}
  </div>
)

/** Tests the rule on past data. The result is hidden as soon as the rule changes. */
function Trial({ siteId, draft }: { siteId: number; draft: GoalDraft }) {
  const [result, setResult] = useState<{ of: GoalDraft; text: string }>()
  const [busy, setBusy] = useState(false)
  const test = async () => {
    setBusy(true)
    const text = await tryGoal(siteId, inputOf(draft)).then(trialText, (error: Error) =>
      error instanceof Problem && error.members.errors
        ? error.members.errors.map(({ detail }) => `It ${detail}.`).join(" ")
        : errorText(error),
    )
    setResult({ of: draft, text })
    setBusy(false)
  }
  return (
    <div class="row">
      <Button busy={busy} disabled={draft.value === ""} onClick={() => void test()}>
        Test goal
      </Button>
      <span role="status" class="small">
        {result?.of === draft ? result.text : ""}
      </span>
    </div>
  )
}

interface GoalFieldsProps {
  /** Whether the goal is new. An existing goal keeps its name if the field is empty. */
  isNew: boolean
  draft: GoalDraft
  onDraft(draft: GoalDraft): void
  errorOf: Sent["errorOf"]
}

/** Renders the fields of a goal's rule and name. */
function GoalFields({ isNew, draft, onDraft, errorOf }: GoalFieldsProps) {
  const set = (change: Partial<GoalDraft>) => onDraft({ ...draft, ...change })
  const { kind, match, value, name, threshold, props } = draft
  const isEvent = kind === "event"
  return (
    <>
      <fieldset>
        <legend>Goal type</legend>
        <div class="row">
          {(Object.keys(KIND_LABELS) as GoalDraft["kind"][]).map((one) => (
            <Checkbox key={one} name="kind" label={KIND_LABELS[one]} checked={kind === one} onChange={() => set({ kind: one })} />
          ))}
        </div>
      </fieldset>
      <SelectField
        label={"Match"}
        value={match}
        options={Object.entries(MATCH_LABELS).map(([id, label]) => ({ value: id, label }))}
        onValue={(chosen) => set({ match: chosen as GoalDraft["match"] })}
        error={errorOf("/match")}
      />
      <MatchValueField
        label={isEvent ? "Event name" : "Page path"}
        of={isEvent ? "event" : "page"}
        value={value}
        onValue={(typed) => set({ value: typed })}
        error={errorOf("/value")}
        {...(!isEvent && { note: "Starts with /, e.g. /thanks." })}
      />
      {kind === "scroll" && (
        <TextField
          label="Scroll depth (%)"
          type="number"
          min={1}
          max={100}
          value={threshold}
          onValue={(typed) => set({ threshold: typed })}
          error={errorOf("/threshold")}
        />
      )}
      {kind !== "scroll" && <ConditionRows props={props} onProps={(changed) => set({ props: changed })} error={errorOf("/props")} />}
      <TextField
        label="Name"
        value={name}
        onValue={(typed) => set({ name: typed })}
        error={errorOf("/name")}
        maxLength={120}
        autocomplete="off"
        note={isNew ? "Leave empty to use the event name or page path." : "Leave empty to keep the current name."}
      />
    </>
  )
}

const MAX_CONDITIONS = 3

interface ConditionRowsProps {
  props: GoalDraft["props"]
  onProps(props: GoalDraft["props"]): void
  error?: string | undefined
}

/** Renders the properties that must all have the given values. */
function ConditionRows({ props, onProps, error }: ConditionRowsProps) {
  const set = (index: number, change: Partial<GoalDraft["props"][number]>) =>
    onProps(props.map((one, at) => (at === index ? { ...one, ...change } : one)))
  return (
    <fieldset class="stack">
      <legend>Only if properties match</legend>
      {props.map((one, index) => (
        <div class="condition-row" key={index}>
          <PropertyKeyField value={one.key} onValue={(key) => set(index, { key })} />
          <TextField label="Value" value={one.value} onValue={(value) => set(index, { value })} maxLength={2_000} autocomplete="off" />
          <IconButton icon="trash" label={`Remove condition ${index + 1}`} onClick={() => onProps(props.filter((_, at) => at !== index))} />
        </div>
      ))}
      {error && <p class="field-error">{error}</p>}
      {props.length < MAX_CONDITIONS && (
        <div>
          <Button icon="plus" onClick={() => onProps([...props, { key: "", value: "" }])}>
            Add condition
          </Button>
        </div>
      )}
    </fieldset>
  )
}
