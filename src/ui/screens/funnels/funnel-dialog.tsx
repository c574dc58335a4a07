import { useId, useState } from "preact/hooks"
import { useLocation } from "wouter"
import type { OwnFunnelResponse } from "../../../domain/funnel.ts"
import { patch, post } from "../../api/api.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { Button } from "../../parts/button.tsx"
import { currentVersion, VersionConflict } from "../../parts/confirm.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { Checkbox, TextField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"
import { toast } from "../../parts/toasts.tsx"
import { visible } from "../../text/safe-text.tsx"
import { draftOf, emptyDraft, type FunnelDraft, funnelsPath, inputOf, reasonAgainst, useRefreshFunnels } from "./funnel-draft.ts"
import { StepList, useStepCounts } from "./step-list.tsx"

interface FunnelDialogProps {
  /** Funnel to edit, or undefined for a new one. */
  funnel?: OwnFunnelResponse
  /** Initial values of a new funnel. */
  draft?: FunnelDraft
  onClose(): void
}

/** Adds or edits a funnel. Each step shows how many visitors reached it. */
export default function FunnelDialog({ funnel, draft: given, onClose }: FunnelDialogProps) {
  const { siteId, searchWith } = useSiteAddress()
  const [, navigate] = useLocation()
  const refresh = useRefreshFunnels(siteId)
  const [draft, setDraft] = useState<FunnelDraft>(() => (funnel ? draftOf(funnel) : (given ?? emptyDraft())))
  const [stale, setStale] = useState<OwnFunnelResponse>()
  const counts = useStepCounts(draft)
  const save = async (version = funnel?.version) => {
    const input = inputOf(draft)
    const saved = funnel
      ? await patch<OwnFunnelResponse>(`${funnelsPath(siteId)}/${funnel.id}`, { ...input, version })
      : await post<OwnFunnelResponse>(funnelsPath(siteId), input)
    await refresh()
    toast(`Funnel ${visible(saved.name)} saved`)
    onClose()
    if (!funnel) navigate(`/sites/${siteId}/funnels/${saved.id}${searchWith({ cards: {} })}`)
  }
  if (stale)
    return (
      <VersionConflict
        mine={facts(inputOf(draft))}
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
    <Dialog title={funnel ? "Edit funnel" : "Add funnel"} onClose={onClose} wide>
      <Form
        submit={() =>
          save().catch((error) => {
            const current = currentVersion<OwnFunnelResponse>(error)
            if (!current) throw error
            setStale(current)
          })
        }
      >
        {({ busy, errorOf }) => (
          <div class="stack funnel-form">
            <TextField
              label="Name"
              value={draft.name}
              onValue={(name) => setDraft({ ...draft, name })}
              error={errorOf("/name")}
              maxLength={120}
              autocomplete="off"
              autofocus
            />
            <StepList steps={draft.steps} onSteps={(steps) => setDraft({ ...draft, steps })} counts={counts} errorOf={errorOf} />
            <Conditions draft={draft} onDraft={setDraft} error={errorOf("/window_hours")} />
            <SaveRow reason={reasonAgainst(draft)} busy={busy} act={funnel ? "Save changes" : "Add funnel"} onClose={onClose} />
          </div>
        )}
      </Form>
    </Dialog>
  )
}

const facts = ({ name, steps, order = "sequential", window_hours }: ReturnType<typeof inputOf>) =>
  [
    ["Name", visible(name)],
    ["Steps", steps.map(({ name: own, value }) => visible(own ?? value)).join(" → ")],
    ["Order", ORDER_LABELS[order]],
    ["Time limit", window_hours === null || window_hours === undefined ? "the whole period" : `${window_hours} h`],
  ] as const

export const ORDER_LABELS: Readonly<Record<FunnelDraft["order"], string>> = {
  sequential: "Any order of other pages in between",
  strict: "Steps directly after one another",
}

interface ConditionsProps {
  draft: FunnelDraft
  onDraft(draft: FunnelDraft): void
  error: string | undefined
}

const Conditions = ({ draft, onDraft, error }: ConditionsProps) => (
  <>
    <fieldset>
      <legend>Order</legend>
      {(Object.keys(ORDER_LABELS) as FunnelDraft["order"][]).map((order) => (
        <Checkbox
          key={order}
          name="order"
          label={ORDER_LABELS[order]}
          checked={draft.order === order}
          onChange={() => onDraft({ ...draft, order })}
        />
      ))}
    </fieldset>
    <TextField
      label="Time limit from first to last step (hours)"
      type="number"
      min={1}
      max={720}
      value={draft.windowHours}
      onValue={(windowHours) => onDraft({ ...draft, windowHours })}
      error={error}
      note="Leave empty for no limit within the period."
    />
  </>
)

interface SaveRowProps {
  reason: string | undefined
  busy: boolean
  act: string
  onClose(): void
}

function SaveRow({ reason, busy, act, onClose }: SaveRowProps) {
  const id = useId()
  return (
    <div class="dialog-foot">
      <span id={id} class="small quiet save-reason" role="status">
        {reason}
      </span>
      <Button onClick={onClose}>Cancel</Button>
      <Button kind="primary" type="submit" busy={busy} disabled={reason !== undefined} aria-describedby={id}>
        {act}
      </Button>
    </div>
  )
}
