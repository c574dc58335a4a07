import { useState } from "preact/hooks"
import { Button, Checkbox, IconButton, TextField } from "#plugin/ui"
import { LIMITS } from "../link.ts"
import type { FieldsProps } from "./editor.tsx"
import { newRule, type RuleDraft } from "./link-draft.ts"

const DEVICES = [
  { id: "desktop", label: "Desktop" },
  { id: "mobile", label: "Phone" },
  { id: "tablet", label: "Tablet" },
] as const

/** Rules of a link: other destinations for some visitors. The first rule that matches applies. */
export function RuleList({ draft, set, errorOf }: FieldsProps) {
  const { rules } = draft
  const [isUsed] = useState(rules.length > 0)
  const change = (key: number, changes: Partial<RuleDraft>) =>
    set({ rules: rules.map((rule) => (rule.key === key ? { ...rule, ...changes } : rule)) })
  const move = (from: number, to: number) => {
    const others = rules.filter((_, index) => index !== from)
    set({ rules: [...others.slice(0, to), rules[from]!, ...others.slice(to)] })
  }
  return (
    <details open={isUsed}>
      <summary>Rules{rules.length > 0 && ` (${rules.length})`}</summary>
      <div class="stack details-body">
        <p class="small quiet">Send some visitors to another destination. The first rule whose conditions all match applies.</p>
        {rules.map((rule, index) => (
          <fieldset class="plain-set rule" key={rule.key}>
            <legend>Rule {index + 1}</legend>
            <RuleFields rule={rule} at={`/rules/${index}`} errorOf={errorOf} onChange={(changes) => change(rule.key, changes)} />
            <div class="row">
              <IconButton icon="up" label={`Move rule ${index + 1} up`} disabled={index === 0} onClick={() => move(index, index - 1)} />
              <IconButton
                icon="down"
                label={`Move rule ${index + 1} down`}
                disabled={index === rules.length - 1}
                onClick={() => move(index, index + 1)}
              />
              <IconButton
                icon="trash"
                label={`Remove rule ${index + 1}`}
                onClick={() => set({ rules: rules.filter(({ key }) => key !== rule.key) })}
              />
            </div>
          </fieldset>
        ))}
        <div class="row">
          <Button icon="plus" disabled={rules.length >= LIMITS.rules} onClick={() => set({ rules: [...rules, newRule()] })}>
            Add rule
          </Button>
          {rules.length >= LIMITS.rules && <span class="small quiet">A link has at most {LIMITS.rules} rules.</span>}
        </div>
      </div>
    </details>
  )
}

interface RuleFieldsProps {
  rule: RuleDraft
  /** Pointer to the rule in the body. */
  at: string
  errorOf: FieldsProps["errorOf"]
  onChange(changes: Partial<RuleDraft>): void
}

function RuleFields({ rule, at, errorOf, onChange }: RuleFieldsProps) {
  const text = (
    name: keyof RuleDraft & string,
    label: string,
    more: { note?: string; pointer: string; type?: "date"; placeholder?: string },
  ) => (
    <TextField
      label={label}
      value={rule[name] as string}
      onValue={(value) => onChange({ [name]: value })}
      error={errorOf(`${at}/when/${more.pointer}`)}
      autocomplete="off"
      {...(more.note && { note: more.note })}
      {...(more.placeholder && { placeholder: more.placeholder })}
      {...(more.type && { type: more.type })}
    />
  )
  return (
    <div class="stack">
      {errorOf(`${at}/when`) && <p class="field-error">A rule needs at least one condition.</p>}
      <div class="row" role="group" aria-label="Device">
        {DEVICES.map(({ id, label }) => (
          <Checkbox
            key={id}
            label={label}
            checked={rule.devices.includes(id)}
            onChange={(isIn) => onChange({ devices: isIn ? [...rule.devices, id] : rule.devices.filter((one) => one !== id) })}
          />
        ))}
      </div>
      <div class="link-builder link-fields">
        {text("os", "Operating system", { pointer: "os", placeholder: "iOS, Android" })}
        {text("country", "Country", { pointer: "country", placeholder: "DE, AT", note: "Two-letter codes." })}
        {text("language", "Language", { pointer: "language", placeholder: "de, fr", note: "de includes de-AT." })}
        {text("queryName", "Parameter", { pointer: "query/name", placeholder: "ref" })}
        {text("queryValue", "Parameter value", { pointer: "query/value", note: "Leave empty for any value." })}
        {text("from", "From date", { pointer: "date/from", ...dayType(rule.from) })}
        {text("to", "To date", { pointer: "date/to", ...dayType(rule.to) })}
      </div>
      <TextField
        label="Destination of the rule"
        type="url"
        code
        value={rule.destination}
        onValue={(destination) => onChange({ destination })}
        error={errorOf(`${at}/destination`)}
        autocomplete="off"
      />
    </div>
  )
}

/** Returns the type of a date field. A rule created through the API may contain an instant, which a date field would not show. */
const dayType = (text: string): { type?: "date" } => (text === "" || /^\d{4}-\d\d-\d\d$/.test(text) ? { type: "date" } : {})
