import { useState } from "preact/hooks"
import { Problem, patch, post } from "../../api/api.ts"
import { Button } from "../../parts/button.tsx"
import { currentOf, TwoVersions } from "../../parts/confirm.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { Form } from "../../parts/form/form.tsx"
import { sentenceOf } from "../../parts/states.tsx"
import { toast } from "../../parts/toasts.tsx"
import { visible } from "../../text/safe-text.tsx"
import { GoalFields } from "./goal-fields.tsx"
import { draftOf, EMPTY_DRAFT, type GoalDraft, type GoalShown, inputOf, PRESETS, ruleText } from "./goal-rule.ts"
import { trialText, tryGoal } from "./goal-trial.tsx"
import { goalsPath, useRefreshGoals } from "./goals-of-site.ts"

interface GoalDialogProps {
  siteId: number
  /** Goal to edit, or undefined for a new one. */
  goal?: GoalShown
  /** Initial values of a new goal. */
  draft?: Partial<GoalDraft>
  onClose(): void
}

/** Adds or edits a goal. It can be tested on past data before it is saved. */
export default function GoalDialog({ siteId, goal, draft: given, onClose }: GoalDialogProps) {
  const refresh = useRefreshGoals(siteId)
  const [draft, setDraft] = useState<GoalDraft>(goal ? draftOf(goal) : { ...EMPTY_DRAFT, ...given })
  const [stale, setStale] = useState<GoalShown>()
  const save = async (version = goal?.version) => {
    const input = inputOf(draft)
    const saved = goal
      ? await patch<GoalShown>(`${goalsPath(siteId)}/${goal.id}`, { ...input, version })
      : await post<GoalShown>(goalsPath(siteId), input)
    await refresh()
    toast(`Goal ${visible(saved.name)} saved`)
    onClose()
  }
  if (stale)
    return (
      <TwoVersions
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
            const current = currentOf<GoalShown>(error)
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

const facts = (goal: GoalShown) =>
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
        : sentenceOf(error),
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
