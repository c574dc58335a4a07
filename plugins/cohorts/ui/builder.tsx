import type { ComponentChildren } from "preact"
import { Button, Checkbox, dimensionLabel, SelectField, TextArea, TextField, visible } from "#plugin/ui"
import { useSiteQuery } from "./answers.ts"
import {
  type ConditionDraft,
  type ConditionType,
  type GroupDraft,
  isGroupDraft,
  newCondition,
  newGroup,
  withoutCondition,
} from "./draft.ts"
import { FilterRows } from "./filter-rows.tsx"
import {
  NUMBERS,
  OPERATOR_LABELS,
  PROPERTY_OPERATORS,
  TEXT_OPERATORS,
  TYPE_LABELS,
  VISIT_DIMENSIONS,
  VISIT_OPERATORS,
  WINDOW_LABELS,
} from "./labels.ts"

interface GroupProps {
  siteId: number
  of: GroupDraft
  onChange(group: GroupDraft): void
  /** Pointer of the group in the body, for the faults of its fields. */
  pointer: string
  errorOf(pointer: string): string | undefined
  /** Removes a group within the definition. */
  onRemove?: () => void
}

/** Conditions of a definition as nested fieldsets. */
export function GroupFields({ siteId, of: group, onChange, pointer, errorOf, onRemove }: GroupProps) {
  const isNested = onRemove !== undefined
  const replace = (index: number, item: ConditionDraft | GroupDraft) =>
    onChange({ ...group, conditions: group.conditions.with(index, item) })
  const remove = (index: number) => onChange(withoutCondition(group, index))
  return (
    <fieldset class="condition-group">
      <legend>{isNested ? "Group of conditions" : "People who meet"}</legend>
      <div class="row spread group-head">
        <SelectField
          label="Match"
          value={group.match}
          options={[
            { value: "all", label: "All of these conditions" },
            { value: "any", label: "Any of these conditions" },
          ]}
          onValue={(match) => onChange({ ...group, match: match as GroupDraft["match"] })}
        />
        {onRemove && (
          <Button kind="quiet" icon="trash" onClick={onRemove}>
            Remove group
          </Button>
        )}
      </div>
      {group.conditions.map((item, index) => {
        const at = `${pointer}/conditions/${index}`
        return isGroupDraft(item) ? (
          <GroupFields
            key={item.key}
            siteId={siteId}
            of={item}
            onChange={(next) => replace(index, next)}
            pointer={at}
            errorOf={errorOf}
            onRemove={() => remove(index)}
          />
        ) : (
          <ConditionFields
            key={item.key}
            siteId={siteId}
            of={item}
            index={index}
            earlier={group.conditions.slice(0, index)}
            onChange={(next) => replace(index, next)}
            pointer={at}
            errorOf={errorOf}
            {...(group.conditions.length > 1 && { onRemove: () => remove(index) })}
          />
        )
      })}
      <div class="row">
        <Button icon="plus" onClick={() => onChange({ ...group, conditions: [...group.conditions, newCondition()] })}>
          Add condition
        </Button>
        {!isNested && (
          <Button kind="quiet" onClick={() => onChange({ ...group, conditions: [...group.conditions, newGroup()] })}>
            Add group
          </Button>
        )}
      </div>
    </fieldset>
  )
}

interface ConditionProps {
  siteId: number
  of: ConditionDraft
  index: number
  earlier: readonly (ConditionDraft | GroupDraft)[]
  onChange(condition: ConditionDraft): void
  pointer: string
  errorOf(pointer: string): string | undefined
  onRemove?: () => void
}

function ConditionFields({ siteId, of, index, earlier, onChange, pointer, errorOf, onRemove }: ConditionProps) {
  const set = (changes: Partial<ConditionDraft>) => onChange({ ...of, ...changes })
  const at = (field: string) => errorOf(`${pointer}/${field}`)
  return (
    <fieldset class="condition">
      <legend>Condition {index + 1}</legend>
      <div class="condition-fields">
        <SelectField
          label="The person"
          value={of.negate ? "not" : ""}
          options={[
            { value: "", label: "did" },
            { value: "not", label: "did not" },
          ]}
          onValue={(value) => set({ negate: value === "not" })}
        />
        <SelectField
          label="What"
          value={of.type}
          options={Object.entries(TYPE_LABELS).map(([value, label]) => ({ value, label }))}
          onValue={(type) =>
            onChange({ ...newCondition(type as ConditionType), key: of.key, negate: of.negate, window: of.window, days: of.days })
          }
          error={at("type")}
        />
        <OwnFields siteId={siteId} of={of} set={set} at={at} />
        <WindowFields of={of} earlier={earlier} set={set} at={at} />
      </div>
      <FilterRows of={of.filters} onChange={(filters) => set({ filters })} errorOf={(field) => errorOf(`${pointer}/filters${field}`)}>
        {onRemove && (
          <Button kind="quiet" icon="trash" aria-label={`Remove condition ${index + 1}`} onClick={onRemove}>
            Remove
          </Button>
        )}
      </FilterRows>
    </fieldset>
  )
}

interface FieldsProps {
  of: ConditionDraft
  set(changes: Partial<ConditionDraft>): void
  at(field: string): string | undefined
}

/** The fields of a condition that depend on its type. */
function OwnFields({ siteId, of, set, at }: FieldsProps & { siteId: number }): ComponentChildren {
  switch (of.type) {
    case "event":
    case "page":
      return (
        <>
          <OperatorField of={of} set={set} operators={TEXT_OPERATORS} />
          <TextField
            label={of.type === "event" ? "Event name" : "Page"}
            value={of.value}
            placeholder={of.type === "event" ? "Signup" : "/pricing"}
            onValue={(value) => set({ value })}
            error={at("value")}
          />
          <CountFields of={of} set={set} at={at} unit="times" />
        </>
      )
    case "goal":
      return (
        <>
          <ReferenceField siteId={siteId} path="goals" label="Goal" of={of} set={set} error={at("goal_id")} />
          <CountFields of={of} set={set} at={at} unit="times" />
        </>
      )
    case "funnel":
      return (
        <>
          <ReferenceField siteId={siteId} path="funnels" label="Funnel" of={of} set={set} error={at("funnel_id")} />
          <TextField
            label="Step to reach"
            type="number"
            min={1}
            value={of.step}
            placeholder="the last"
            onValue={(step) => set({ step })}
            error={at("step")}
          />
        </>
      )
    case "cohort":
      return <ReferenceField siteId={siteId} path="cohorts" label="Cohort" of={of} set={set} error={at("cohort_id")} />
    case "property":
      return (
        <>
          <TextField
            label="Property"
            value={of.property}
            placeholder="plan"
            onValue={(property) => set({ property })}
            error={at("property")}
          />
          <OperatorField of={of} set={set} operators={PROPERTY_OPERATORS} />
          <TextArea
            label="Values, one per line"
            rows={1}
            value={of.value}
            onValue={(value) => set({ value })}
            error={at("values") ?? at("values/0")}
          />
          <TextField
            label="Of the event"
            value={of.event}
            placeholder="any event"
            onValue={(event) => set({ event })}
            error={at("event")}
          />
        </>
      )
    case "dimension":
      return (
        <>
          <SelectField
            label="Dimension"
            value={of.dimension}
            options={VISIT_DIMENSIONS.map((name) => ({ value: name, label: dimensionLabel(name) }))}
            onValue={(dimension) => set({ dimension })}
            error={at("dimension")}
          />
          <OperatorField of={of} set={set} operators={VISIT_OPERATORS} />
          <TextArea
            label="Values, one per line"
            rows={1}
            value={of.value}
            onValue={(value) => set({ value })}
            error={at("values") ?? at("values/0")}
          />
        </>
      )
    case "revenue":
      return (
        <>
          <OperatorField of={of} set={set} operators={NUMBERS} />
          <TextField
            label="Amount"
            inputMode="decimal"
            value={of.value}
            placeholder="100.00"
            onValue={(value) => set({ value })}
            error={at("amount")}
          />
          <TextField
            label="Currency"
            maxLength={3}
            value={of.currency}
            onValue={(currency) => set({ currency: currency.toUpperCase() })}
            error={at("currency")}
          />
        </>
      )
    case "active_days":
      return <CountFields of={of} set={set} at={at} unit="days" />
    case "first_seen":
      return null
  }
}

const OperatorField = ({ of, set, operators }: Omit<FieldsProps, "at"> & { operators: readonly string[] }) => (
  <SelectField
    label="Comparison"
    value={of.operator}
    options={operators.map((value) => ({ value, label: OPERATOR_LABELS[value] ?? value }))}
    onValue={(operator) => set({ operator })}
  />
)

const CountFields = ({ of, set, at, unit }: FieldsProps & { unit: string }) => (
  <div class="count-fields">
    <SelectField
      label="How often"
      value={of.countOp}
      options={[
        { value: "gte", label: "at least" },
        { value: "eq", label: "exactly" },
        { value: "lte", label: "at most" },
      ]}
      onValue={(countOp) => set({ countOp })}
    />
    <TextField
      label={unit === "days" ? "Days" : "Times"}
      type="number"
      min={0}
      max={10_000}
      value={of.count}
      onValue={(count) => set({ count })}
      error={at("count/n")}
    />
  </div>
)

function WindowFields({ of, earlier, set, at }: FieldsProps & { earlier: readonly (ConditionDraft | GroupDraft)[] }) {
  const references = earlier.flatMap((item, index) =>
    isGroupDraft(item) ? [] : [{ value: String(index), label: `condition ${index + 1}` }],
  )
  const kinds = Object.entries(WINDOW_LABELS).filter(([value]) => value !== "after" || references.length > 0)
  return (
    <>
      <SelectField
        label="When"
        value={of.window}
        options={kinds.map(([value, label]) => ({ value, label }))}
        onValue={(window) => set({ window: window as ConditionDraft["window"] })}
      />
      {of.window === "after" && (
        <SelectField
          label="After"
          value={of.after}
          options={references}
          onValue={(after) => set({ after })}
          error={at("window/condition")}
        />
      )}
      {of.window === "between" ? (
        <>
          <TextField label="From" type="date" value={of.from} onValue={(from) => set({ from })} error={at("window/from")} />
          <TextField label="To" type="date" value={of.to} onValue={(to) => set({ to })} error={at("window/to")} />
        </>
      ) : (
        of.window !== "" && (
          <TextField
            label="Days"
            type="number"
            min={1}
            max={1095}
            value={of.days}
            onValue={(days) => set({ days })}
            error={at("window/days")}
          />
        )
      )}
    </>
  )
}

function ReferenceField({
  siteId,
  path,
  label,
  of,
  set,
  error,
}: Omit<FieldsProps, "at"> & { siteId: number; path: string; label: string; error: string | undefined }) {
  const things = useSiteQuery<{ data: { id: number; name: string }[] }>(siteId, `${path}?limit=200`)
  const options = (things.data?.data ?? []).map(({ id, name }) => ({ value: String(id), label: visible(name) }))
  return (
    <SelectField
      label={label}
      value={of.reference}
      options={[{ value: "", label: `Choose a ${label.toLowerCase()}` }, ...options]}
      onValue={(reference) => set({ reference })}
      error={error}
    />
  )
}

/** Whether only people with an id count. */
export const RestrictField = ({ checked, onChange }: { checked: boolean; onChange(checked: boolean): void }) => (
  <Checkbox
    label="Count only people with a user ID or stored ID"
    note="Needed for times that are longer than the site recognizes other visitors."
    checked={checked}
    onChange={onChange}
  />
)
