import { useContext, useState } from "preact/hooks"
import type { SegmentResponse } from "../../../domain/segment.ts"
import { type AddressFilter, rangeArguments, type SiteAddress } from "../../../domain/site-address.ts"
import { Problem, post, remove } from "../../api/api.ts"
import { canOnSite, useMe } from "../../api/session.ts"
import { AddressPlaceContext, useSiteAddress } from "../../browser/address.ts"
import { useDebouncedValue } from "../../browser/hooks.ts"
import { Button, IconButton } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { toast } from "../../parts/toasts.tsx"
import { exact } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { useReport, useStatsSource } from "../data/reports.ts"
import { FilterEditor, type Join } from "./filter-editor.tsx"
import { segmentsPath, useRefreshSegments, useSegments } from "./filters.ts"
import { useSegmentTexts } from "./segment-filters.ts"

interface FilterDialogProps {
  index?: number
  isAny?: boolean
  onClose(): void
}

/**
 * Dialog that adds filters to the page, or edits them: those that must all match, or those of which one must match. The other ones stay.
 * New filters join the alternatives when the page has nothing else.
 */
export default function FilterDialog({ index, isAny, onClose }: FilterDialogProps) {
  const { address, go } = useSiteAddress()
  const { hasAlternatives = true } = useContext(AddressPlaceContext) ?? {}
  const { siteId } = useStatsSource()
  const { filters, any } = address
  const editsAny = isAny ?? (index === undefined && filters.length === 0 && any.length > 0)
  const [join, setJoin] = useState<Join>(editsAny ? "any" : "all")
  const kept = editsAny ? filters : []
  const changesTo = (list: AddressFilter[]): Pick<SiteAddress, "filters" | "any"> => {
    if (join === "any" && list.length > 1) return { filters: kept, any: list }
    return { filters: [...kept, ...list], any: editsAny ? [] : any }
  }
  return (
    <FilterEditor
      filters={editsAny ? any : filters}
      index={index}
      more={editsAny ? filters.length : any.length}
      join={join}
      // A page has one group of alternatives.
      {...(hasAlternatives && (editsAny || any.length === 0) && { onJoin: setJoin })}
      onFilters={(list) => {
        go(changesTo(list))
        onClose()
      }}
      onClose={onClose}
      countOf={(list) => <MatchCount changes={changesTo(list)} />}
    >
      {siteId !== undefined && index === undefined && <SavedSegments siteId={siteId} onClose={onClose} />}
    </FilterEditor>
  )
}

const COUNT_WAIT_MS = 300

/** Number of visitors that filters match in the period of the page. */
function MatchCount({ changes }: { changes: Pick<SiteAddress, "filters" | "any"> }) {
  const { address } = useSiteAddress()
  const asked = useDebouncedValue(JSON.stringify(changes), COUNT_WAIT_MS)
  const given = { ...rangeArguments({ ...address, ...JSON.parse(asked) }), metrics: ["visitors"] } // written above
  const { data, error, isFetching } = useReport("summary", given, { refetchMs: false })
  const visitors = data?.metrics.visitors
  return (
    <span class="filter-count small quiet" role="status" aria-busy={isFetching}>
      {error ? error.message : visitors === undefined ? "" : visitors === 1 ? "1 visitor matches" : `${exact(visitors)} visitors match`}
    </span>
  )
}

/** List of saved segments. Users can delete their own; shared ones need the permission `segments:write`. */
function SavedSegments({ siteId, onClose }: { siteId: number; onClose(): void }) {
  const { go } = useSiteAddress()
  const me = useMe()
  const { data: segments = [] } = useSegments(siteId)
  const { drop, used, setUsed } = useRemoval(siteId)
  if (segments.length === 0) return null
  const mayDelete = ({ scope, owner }: SegmentResponse) =>
    scope === "personal" ? owner === me?.user.id : canOnSite(me, siteId, "segments:write")
  return (
    <section class="stack saved" aria-labelledby="saved-segments">
      <h3 id="saved-segments">Saved segments</h3>
      <ul>
        {segments.map((segment) => (
          <li key={segment.id} class="row spread">
            <SegmentButton
              segment={segment}
              onChoose={() => {
                go({ segment: segment.id })
                onClose()
              }}
            />
            <span class="row">
              <span class="small quiet">{segment.scope === "personal" ? "Only me" : "Shared"}</span>
              {mayDelete(segment) && (
                <IconButton icon="trash" label={`Delete segment ${visible(segment.name)}`} onClick={() => void drop(segment)} />
              )}
            </span>
          </li>
        ))}
      </ul>
      {used && (
        <Confirm title="Delete segment in use" act="Delete segment" onConfirm={() => drop(used, true)} onClose={() => setUsed(undefined)}>
          <p>{visible(used.name)} is still used elsewhere, for example in a shared view. Those uses will stop working.</p>
          <Button onClick={() => setUsed(undefined)}>Keep segment</Button>
        </Confirm>
      )}
    </section>
  )
}

function SegmentButton({ segment, onChoose }: { segment: SegmentResponse; onChoose(): void }) {
  const texts = useSegmentTexts(segment.filters)
  return (
    <button type="button" class="text-button" title={texts.join(", ")} onClick={onChoose}>
      {visible(segment.name)}
    </button>
  )
}

/** Deletes a segment at once and offers *Undo*. Asks for confirmation if the segment is in use. */
function useRemoval(siteId: number) {
  const refresh = useRefreshSegments(siteId)
  const [used, setUsed] = useState<SegmentResponse>()
  const drop = async (segment: SegmentResponse, force = false) => {
    const { name, scope, filters } = segment
    try {
      await remove(`${segmentsPath(siteId)}/${segment.id}${force ? "?force=true" : ""}`)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      if (error.code === "segment_in_use") setUsed(segment)
      else toast(error.message)
      return
    }
    await refresh()
    toast(`Segment ${visible(name)} deleted`, () => void post(segmentsPath(siteId), { name, scope, filters }).then(refresh))
  }
  return { drop, used, setUsed }
}
