import { useState } from "preact/hooks"
import { Button, COMPARISON_LABELS, Dialog, PERIOD_LABELS, SelectField, TextArea, TextField } from "#plugin/ui"
import { useRights } from "../answers.ts"
import { LIMITS } from "../limits.ts"
import { VISIBILITIES } from "../visibilities.ts"
import type { Draft } from "./draft.ts"
import { FilterList } from "./filter-list.tsx"

interface BoardSettingsProps {
  siteId: number
  draft: Draft
  onDraft(draft: Draft): void
  onClose(): void
}

const REFRESHES = [
  { value: "0", label: "Never" },
  { value: "30", label: "Every 30 seconds" },
  { value: "60", label: "Every minute" },
  { value: "300", label: "Every 5 minutes" },
  { value: "900", label: "Every 15 minutes" },
]

/** Drawer with everything about a dashboard but its widgets. */
export function BoardSettings({ siteId, draft, onDraft, onClose }: BoardSettingsProps) {
  const [values, setValues] = useState(draft)
  const { writes } = useRights(siteId)
  const set = (changes: Partial<Draft>) => setValues({ ...values, ...changes })
  const { range } = values
  return (
    <Dialog title="Dashboard settings" onClose={onClose} drawer>
      <form
        class="form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          onDraft({ ...draft, ...values, name: values.name.trim() || draft.name, widgets: draft.widgets })
          onClose()
        }}
      >
        <TextField label="Name" value={values.name} onValue={(name) => set({ name })} maxLength={LIMITS.nameChars} required />
        <TextArea label="Description" rows={2} value={values.description} onValue={(description) => set({ description })} />
        {writes && (
          <SelectField
            label="Visible to"
            value={values.visibility}
            options={VISIBILITIES}
            onValue={(visibility) => set({ visibility: visibility as Draft["visibility"] })}
          />
        )}
        <SelectField
          label="Period when opened"
          value={range.period ?? ""}
          options={[
            ...(range.period === undefined ? [{ value: "", label: `${range.from} – ${range.to}` }] : []),
            ...PERIOD_LABELS.map(({ period, label }) => ({ value: period, label })),
          ]}
          onValue={(period) => {
            const { from: _, to: __, ...rest } = range
            if (period !== "") set({ range: { ...rest, period } })
          }}
        />
        <SelectField
          label="Compare with"
          value={typeof range.compare === "string" ? range.compare : "none"}
          options={COMPARISON_LABELS.map(({ compare, label }) => ({ value: compare, label }))}
          onValue={(compare) => set({ range: { ...range, compare: compare as "none" } })}
        />
        <SelectField
          label="Update in full screen"
          value={String(values.refresh_s)}
          options={REFRESHES}
          onValue={(seconds) => set({ refresh_s: Number(seconds) })}
        />
        <fieldset class="plain-fieldset stack">
          <legend>Filters on all widgets</legend>
          <FilterList siteId={siteId} filters={values.filters} onFilters={(filters) => set({ filters })} />
        </fieldset>
        <div class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit">
            Apply
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
