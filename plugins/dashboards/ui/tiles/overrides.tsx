import { type AddressFilter, addressFilters, filterText, periodLabel, rangeText } from "#plugin/ui"
import type { BoardRange, Config } from "../../board.ts"

/** Marks of a widget with a range or filters of its own, so that its figures are not taken for those of the dashboard's range. */
export function Overrides({ config }: { config: Config }) {
  const { range, filters } = config as { range?: BoardRange; filters?: Parameters<typeof addressFilters>[0] } // checked when it was saved
  const texts = [...(filters ? filterTexts(addressFilters(filters)) : []), ...segmentTexts(config)]
  return (
    <>
      {range && <span class="badge">{ownRangeText(range)}</span>}
      {texts.length > 0 && (
        <span class="badge" title={texts.join(", ")}>
          {texts.length === 1 ? texts[0] : `${texts.length} filters`}
        </span>
      )}
    </>
  )
}

const filterTexts = (filters: readonly AddressFilter[]): string[] => filters.map((filter) => filterText(filter))

const segmentTexts = ({ segment_id, cohort_id }: Config): string[] => [
  ...(segment_id === undefined ? [] : ["Segment"]),
  ...(cohort_id === undefined ? [] : ["Cohort"]),
]

const ownRangeText = ({ period, from, to }: BoardRange): string =>
  period === undefined ? rangeText(from ?? "", to ?? "") : periodLabel(period as Parameters<typeof periodLabel>[0]) // a period of the list
