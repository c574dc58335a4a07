import { useState } from "preact/hooks"
import { Checkbox, TextField } from "../../parts/form/fields.tsx"
import { visible } from "../../text/safe-text.tsx"
import type { OwnSite } from "./own-organization.ts"

interface SiteChoicesProps {
  legend: string
  sites: readonly OwnSite[]
  chosen: readonly number[]
  onChosen(ids: readonly number[]): void
  /** Note shown while no site is chosen. Default: a note about guests. */
  emptyNote?: string
  error?: string | undefined
}

/** Number of sites above which a search field is shown. */
const MANY = 8

/** Lets the user choose some of the organization's sites. */
export function SiteChoices({
  legend,
  sites,
  chosen,
  onChosen,
  emptyNote = "Choose at least one site. Guests only see the sites you choose.",
  error,
}: SiteChoicesProps) {
  const [wanted, setWanted] = useState("")
  const shown = sites.filter(({ name }) => name.toLowerCase().includes(wanted.trim().toLowerCase()))
  return (
    <fieldset class="stack">
      <legend>{legend}</legend>
      {sites.length > MANY && <TextField label="Search sites" type="search" value={wanted} onValue={setWanted} />}
      <div class="choice-list">
        {shown.map(({ id, name }) => (
          <Checkbox
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
          {chosen.length === 0 ? emptyNote : `${chosen.length} of ${sites.length} selected.`}
        </p>
      )}
    </fieldset>
  )
}
