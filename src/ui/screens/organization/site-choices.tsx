import { useState } from "preact/hooks"
import { Choice, TextField } from "../../parts/fields.tsx"
import { visible } from "../../safe-text.ts"
import type { OwnSite } from "./own-organization.ts"

interface SiteChoicesProps {
  legend: string
  sites: readonly OwnSite[]
  chosen: readonly number[]
  onChosen(ids: readonly number[]): void
  /** Said below while nothing is chosen. */
  emptyNote: string
  error?: string | undefined
}

/** From more sites than this on, a field to search them. */
const MANY = 8

/** Some of the organization's sites. */
export function SiteChoices({ legend, sites, chosen, onChosen, emptyNote, error }: SiteChoicesProps) {
  const [wanted, setWanted] = useState("")
  const shown = sites.filter(({ name }) => name.toLowerCase().includes(wanted.trim().toLowerCase()))
  return (
    <fieldset class="stack">
      <legend>{legend}</legend>
      {sites.length > MANY && <TextField label="Search sites" type="search" value={wanted} onValue={setWanted} />}
      <div class="choice-list">
        {shown.map(({ id, name }) => (
          <Choice
            key={id}
            label={visible(name)}
            checked={chosen.includes(id)}
            onChange={(checked) => onChosen(checked ? [...chosen, id] : chosen.filter((one) => one !== id))}
          />
        ))}
      </div>
      {error ? (
        <p class="field-error">{error}</p>
      ) : (
        <p class="field-note" aria-live="polite">
          {chosen.length === 0 ? emptyNote : `${chosen.length} of ${sites.length} chosen.`}
        </p>
      )}
    </fieldset>
  )
}
