import { useState } from "preact/hooks"
import { RULE_DIMENSIONS, type ShieldKind } from "../../../domain/shield.ts"
import { patch, post } from "../../api.ts"
import { Button } from "../../parts/button.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { SelectField, TextField } from "../../parts/fields.tsx"
import { Form } from "../../parts/form.tsx"
import { TwoVersions } from "../../parts/two-versions.tsx"
import { currentOf } from "../../stale.ts"
import { ConditionRows, conditionsOf, conditionsText, draftsOf, type KeptCondition } from "./condition-rows.tsx"

/** A rule for drops, as `GET /api/private/sites/{site}/shields` shows it. */
export interface ShieldShown {
  id: number
  kind: ShieldKind
  value: string
  conditions?: KeptCondition[]
  note: string
  enabled: boolean
  /** Events it has stopped in the last seven days. */
  hits_7d: number
  version: number
}

export const KIND_WORDS: Readonly<Record<ShieldKind, { label: string; value: string; note: string }>> = {
  ip: { label: "Address", value: "Address or range", note: "203.0.113.7 or 203.0.113.0/24; of version 6, too." },
  country: { label: "Country", value: "Country", note: "A code of two letters, such as DE." },
  page: { label: "Page", value: "Path", note: "/admin, or /admin/* with everything below it." },
  hostname: { label: "Hostname", value: "Hostname", note: "staging.example.com, or *.example.com." },
  referrer: { label: "Referrer", value: "Referrer", note: "A host, or a part of it with *." },
  rule: { label: "Rule", value: "Name", note: "Under which its drops are counted." },
}

const MOST_CONDITIONS = 5

interface ShieldFormProps {
  /** Of the site's shields. */
  path: string
  /** Undefined: a new one. */
  shield: ShieldShown | undefined
  onDone(): Promise<unknown>
  onClose(): void
}

/** A new shield, or the change of one. */
export function ShieldForm({ path, shield, onDone, onClose }: ShieldFormProps) {
  const [kind, setKind] = useState<ShieldKind>(shield?.kind ?? "ip")
  const [value, setValue] = useState(shield?.value ?? "")
  const [note, setNote] = useState(shield?.note ?? "")
  const [drafts, setDrafts] = useState(draftsOf(shield?.conditions ?? [{ dimension: "page", values: [] }]))
  const words = KIND_WORDS[kind]
  const [theirs, setTheirs] = useState<ShieldShown>()
  const body = { kind, ...(value !== "" && { value }), note, ...(kind === "rule" && { conditions: conditionsOf(drafts) }) }
  const done = async () => {
    await onDone()
    onClose()
  }
  const change = async (version: number) => {
    await patch(`${path}/${shield!.id}`, { ...body, version }) // only a shield that is there is changed
    await done()
  }
  const submit = async () => {
    try {
      if (shield) return await change(shield.version)
      await post(path, body)
      await done()
    } catch (error) {
      const current = currentOf<ShieldShown>(error)
      if (!current) throw error
      setTheirs(current)
    }
  }
  return (
    <Dialog title={shield ? "Change the shield" : "Add a shield"} onClose={onClose}>
      <Form submit={submit}>
        {({ busy, errorOf }) => (
          <>
            <SelectField
              label="Kind"
              value={kind}
              onValue={(next) => setKind(next as ShieldKind)}
              options={Object.entries(KIND_WORDS).map(([id, { label }]) => ({ value: id, label }))}
            />
            <TextField
              label={words.value}
              note={words.note}
              value={value}
              onValue={setValue}
              error={errorOf("/value")}
              autofocus
              autocomplete="off"
            />
            {kind === "rule" && (
              <ConditionRows
                label="Conditions"
                note="An event is dropped when all of them hold."
                dimensions={RULE_DIMENSIONS}
                most={MOST_CONDITIONS}
                drafts={drafts}
                onDrafts={setDrafts}
                error={errorOf("/conditions")}
              />
            )}
            <TextField label="Note" value={note} onValue={setNote} error={errorOf("/note")} autocomplete="off" />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                {shield ? "Save" : "Add the shield"}
              </Button>
            </div>
          </>
        )}
      </Form>
      {theirs && (
        <TwoVersions
          mine={wordsOf({ value, ...body })}
          theirs={wordsOf(theirs)}
          onMine={() => change(theirs.version)}
          onTheirs={done}
          onClose={() => setTheirs(undefined)}
        />
      )}
    </Dialog>
  )
}

const wordsOf = ({ kind, value, conditions = [], note }: Pick<ShieldShown, "kind" | "value" | "conditions" | "note">) =>
  [
    ["Kind", KIND_WORDS[kind].label],
    ["Value", value],
    ["Conditions", conditionsText(conditions)],
    ["Note", note],
  ] as const
