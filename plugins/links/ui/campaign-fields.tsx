import { SelectField, TextField, visible } from "#plugin/ui"
import { builtUrl } from "../address.ts"
import type { Utm } from "../link.ts"
import type { TemplateResponse } from "../responses.ts"
import { useTemplates } from "./answers.ts"
import type { FieldsProps } from "./editor.tsx"
import { utmOf } from "./link-draft.ts"

export const TAG_LABELS = [
  { key: "utm_source", label: "Source", example: "newsletter" },
  { key: "utm_medium", label: "Medium", example: "email" },
  { key: "utm_campaign", label: "Campaign", example: "autumn-sale" },
  { key: "utm_term", label: "Term", example: "red shoes" },
  { key: "utm_content", label: "Content", example: "button" },
] as const

/** Campaign tags, entered or from a template, and the resulting URL. */
export function CampaignFields({ siteId, draft, set, errorOf }: FieldsProps & { siteId: number }) {
  const templates = useTemplates(siteId).data?.data ?? []
  const template = templates.find(({ id }) => String(id) === draft.template)
  const choose = (id: string) => {
    const chosen = templates.find((one) => String(one.id) === id)
    set({ template: id, ...(chosen && { utm: { ...chosen.fields, ...utmOf(draft) } }) })
  }
  return (
    <fieldset class="plain-set">
      <legend>Campaign</legend>
      <div class="link-builder link-fields">
        {templates.length > 0 && (
          <SelectField
            label="Template"
            value={draft.template}
            onValue={choose}
            options={[{ value: "", label: "None" }, ...templates.map(({ id, name }) => ({ value: String(id), label: visible(name) }))]}
          />
        )}
        {TAG_LABELS.map(({ key, label, example }) => (
          <TextField
            key={key}
            label={template?.required.includes(key) ? `${label} (required)` : label}
            value={draft.utm[key] ?? ""}
            onValue={(value) => set({ utm: { ...draft.utm, [key]: value } })}
            error={errorOf(`/utm/${key}`)}
            placeholder={example}
            maxLength={200}
            autocomplete="off"
          />
        ))}
        <SelectField
          label="Tags already in the destination"
          value={draft.utmMode}
          onValue={(mode) => set({ utmMode: mode as typeof draft.utmMode })}
          options={[
            { value: "fill", label: "Keep" },
            { value: "override", label: "Replace" },
          ]}
        />
      </div>
      <FinalAddress draft={draft} template={template} />
    </fieldset>
  )
}

/** URL to redirect to, built by the same function as the redirect. The template fills in empty tags. */
function FinalAddress({ draft, template }: { draft: FieldsProps["draft"]; template: TemplateResponse | undefined }) {
  const utm: Utm = { ...template?.fields, ...utmOf(draft) }
  const destination = draft.destination.trim()
  const terms = { forward_path: false, forward_query: false, utm, utm_mode: draft.utmMode }
  const address = destination === "" ? "–" : builtUrl(destination, terms, { path: "", query: "" })
  return (
    <div class="stack link-made">
      <span class="small quiet" aria-hidden="true">
        Final address
      </span>
      <output class="link-made-text" aria-label="Final address">
        {visible(address)}
      </output>
    </div>
  )
}
