import { useState } from "preact/hooks"
import type { SavedFilter } from "../../../domain/segment.ts"
import { RULE_DIMENSIONS, type ShieldKind } from "../../../domain/shield.ts"
import type { ShieldResponse } from "../../../domain/site-response.ts"
import { patch, post } from "../../api/api.ts"
import { ConditionRows, conditionsOf, conditionsText, draftsOf } from "../../area/condition-rows.tsx"
import { Button } from "../../parts/button.tsx"
import { currentVersion, VersionConflict } from "../../parts/confirm.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { SelectField, TextField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"

export const KIND_LABELS: Readonly<Record<ShieldKind, { label: string; value: string; note: string }>> = {
  ip: { label: "IP address", value: "IP address or range", note: "203.0.113.7 or 203.0.113.0/24. IPv6 works, too." },
  country: { label: "Country", value: "Country", note: "Two-letter code, such as DE." },
  page: { label: "Page", value: "Path", note: "/admin, or /admin/* for everything below it." },
  hostname: { label: "Hostname", value: "Hostname", note: "staging.example.com, or *.example.com." },
  referrer: { label: "Referrer", value: "Referrer", note: "A host. Use * as a wildcard." },
  rule: { label: "Rule", value: "Name", note: "Dropped events are counted under this name." },
}

const MAX_CONDITIONS = 5

interface ShieldFormProps {
  /** API path of the site's shields. */
  path: string
  /** Shield to edit, or undefined for a new one. */
  shield: ShieldResponse | undefined
  onDone(): Promise<unknown>
  onClose(): void
}

/** Adds or edits a shield. */
export function ShieldForm({ path, shield, onDone, onClose }: ShieldFormProps) {
  const [kind, setKind] = useState<ShieldKind>(shield?.kind ?? "ip")
  const [value, setValue] = useState(shield?.value ?? "")
  const [note, setNote] = useState(shield?.note ?? "")
  const [drafts, setDrafts] = useState(draftsOf(shield?.conditions ?? [{ dimension: "page", values: [] }]))
  const words = KIND_LABELS[kind]
  const [theirs, setTheirs] = useState<ShieldResponse>()
  const body = { kind, ...(value !== "" && { value }), note, ...(kind === "rule" && { conditions: conditionsOf(drafts) }) }
  const done = async () => {
    await onDone()
    onClose()
  }
  const change = async (version: number) => {
    await patch(`${path}/${shield!.id}`, { ...body, version }) // `change` is called for an existing shield only
    await done()
  }
  const submit = async () => {
    try {
      if (shield) return await change(shield.version)
      await post(path, body)
      await done()
    } catch (error) {
      const current = currentVersion<ShieldResponse>(error)
      if (!current) throw error
      setTheirs(current)
    }
  }
  return (
    <Dialog title={shield ? "Edit shield" : "Add shield"} onClose={onClose}>
      <Form submit={submit}>
        {({ busy, errorOf }) => (
          <>
            <SelectField
              label="Type"
              value={kind}
              onValue={(next) => setKind(next as ShieldKind)}
              options={Object.entries(KIND_LABELS).map(([id, { label }]) => ({ value: id, label }))}
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
                note="Events that match all conditions are dropped."
                dimensions={RULE_DIMENSIONS}
                maximum={MAX_CONDITIONS}
                drafts={drafts}
                onDrafts={setDrafts}
                error={errorOf("/conditions")}
              />
            )}
            <TextField label="Note" value={note} onValue={setNote} error={errorOf("/note")} autocomplete="off" />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                {shield ? "Save changes" : "Add shield"}
              </Button>
            </div>
          </>
        )}
      </Form>
      {theirs && (
        <VersionConflict
          mine={textOf({ value, ...body })}
          theirs={textOf(theirs)}
          onMine={() => change(theirs.version)}
          onTheirs={done}
          onClose={() => setTheirs(undefined)}
        />
      )}
    </Dialog>
  )
}

const textOf = ({
  kind,
  value,
  conditions = [],
  note,
}: Pick<ShieldResponse, "kind" | "value" | "note"> & { conditions?: readonly SavedFilter[] }) =>
  [
    ["Type", KIND_LABELS[kind].label],
    ["Value", value],
    ["Conditions", conditionsText(conditions)],
    ["Note", note],
  ] as const
