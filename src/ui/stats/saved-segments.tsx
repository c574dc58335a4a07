import { useState } from "preact/hooks"
import { useSiteAddress } from "../address.ts"
import { Problem, post, remove } from "../api.ts"
import { canOnSite, useMe } from "../me.ts"
import { Button, IconButton } from "../parts/button.tsx"
import { Confirm } from "../parts/confirm.tsx"
import { visible } from "../safe-text.ts"
import { toast } from "../toasts.ts"
import { useFilterTexts } from "./code-names.ts"
import { type SegmentShown, segmentsPath, useRefreshSegments, useSegments } from "./segments.ts"

/** Saved filters to choose from. One's own can be deleted, those of the site by whoever may change them. */
export function SavedSegments({ siteId, onClose }: { siteId: number; onClose(): void }) {
  const { go } = useSiteAddress()
  const me = useMe()
  const { data: segments = [] } = useSegments(siteId)
  const { drop, used, setUsed } = useRemoval(siteId)
  if (segments.length === 0) return null
  const mayDelete = ({ scope, owner }: SegmentShown) =>
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
              <span class="small quiet">{segment.scope === "personal" ? "Yours alone" : "Of the site"}</span>
              {mayDelete(segment) && (
                <IconButton icon="trash" label={`Delete segment ${visible(segment.name)}`} onClick={() => void drop(segment)} />
              )}
            </span>
          </li>
        ))}
      </ul>
      {used && (
        <Confirm
          title="The segment is in use"
          act="Delete all the same"
          onConfirm={() => drop(used, true)}
          onClose={() => setUsed(undefined)}
        >
          <p>{visible(used.name)} is used elsewhere. What uses it will no longer work.</p>
          <Button onClick={() => setUsed(undefined)}>Keep it</Button>
        </Confirm>
      )}
    </section>
  )
}

function SegmentButton({ segment, onChoose }: { segment: SegmentShown; onChoose(): void }) {
  const texts = useFilterTexts(segment.filters)
  return (
    <button type="button" class="text-button" title={texts.join(", ")} onClick={onChoose}>
      {visible(segment.name)}
    </button>
  )
}

/** Deleted at once, with the way back; asked about where something still uses it. */
function useRemoval(siteId: number) {
  const refresh = useRefreshSegments(siteId)
  const [used, setUsed] = useState<SegmentShown>()
  const drop = async (segment: SegmentShown, force = false) => {
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
