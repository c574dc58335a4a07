import { Checkbox, dayText } from "#plugin/ui"
import type { ImportResponse } from "../responses.ts"

type Overlap = ImportResponse["overlap"]

export const OVERLAP_LABELS: Readonly<Record<Overlap, string>> = {
  native_wins: "Import only days before Footfall",
  fill_gaps: "Also fill later gaps",
  import_wins_over_imports: "Replace days of other imports",
  allow: "Count both",
}

const noteOf = (overlap: Overlap, nativeStart: string | null): string =>
  ({
    native_wins: nativeStart
      ? `Footfall has recorded visits since ${dayText(nativeStart)}. Days held by another import stay with it.`
      : "Footfall has no recorded visits yet. Days held by another import stay with it.",
    fill_gaps: "Imports every day on which Footfall recorded no visits.",
    import_wins_over_imports:
      "Imports days before Footfall, and takes over days held by other imports. Undoing this import gives them back.",
    allow: "Imports all days and adds them to what Footfall recorded. Visits in both are counted twice.",
  })[overlap]

interface OverlapFieldProps {
  value: Overlap
  nativeStart: string | null
  /** Whether the user may count days twice. */
  allows: boolean
  onValue(overlap: Overlap): void
}

/** Choice of the rule for days on which there is data already. */
export const OverlapField = ({ value, nativeStart, allows, onValue }: OverlapFieldProps) => (
  <fieldset class="overlap-field">
    <legend>Days with data already</legend>
    {(Object.keys(OVERLAP_LABELS) as Overlap[]).map((overlap) => (
      <Checkbox
        key={overlap}
        name="overlap"
        label={OVERLAP_LABELS[overlap]}
        note={overlap === "allow" && !allows ? "Needs the permission to edit the site." : noteOf(overlap, nativeStart)}
        disabled={overlap === "allow" && !allows}
        checked={overlap === value}
        onChange={() => onValue(overlap)}
      />
    ))}
  </fieldset>
)
