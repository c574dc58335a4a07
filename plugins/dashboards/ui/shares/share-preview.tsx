import { useQuery } from "@tanstack/react-query"
import { useMemo, useState } from "preact/hooks"
import { AddressPlaceContext, ErrorState, get, Skeleton, StatsSourceContext } from "#plugin/ui"
import type { OpenBoard, SharedBoardResponse } from "../../shares/responses.ts"
import { type BoardSource, useBoardData } from "../board/data.ts"
import { Grid } from "../board/grid.tsx"
import { sharedSource } from "../public/shared-source.ts"

/** What viewers of a public link see, asked for once it is opened. */
export function SharePreview({ slug }: { slug: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Preview</summary>
      {isOpen && <Preview path={`/api/share/d/${slug}`} />}
    </details>
  )
}

function Preview({ path }: { path: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["share preview", path],
    queryFn: ({ signal }) => get<SharedBoardResponse>(path, signal),
  })
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton rows={4} />
  if (data.password_required) return <p class="quiet small">This link asks for its password first. Open the link to see it.</p>
  return <Shown path={path} board={data} />
}

const NO_QUESTION = {}

/** The widgets with the figures that the link gives, without the links and menus of its page. */
function Shown({ path, board }: { path: string; board: OpenBoard }) {
  const { widgets } = board
  const source = useMemo((): BoardSource => ({ dataPath: `${path}/data`, csvPath: undefined }), [path])
  const stats = useMemo(() => ({ ...sharedSource(path, board, 0), filters: false }), [path, board])
  const place = useMemo(() => ({ base: path, key: path }), [path])
  const data = useBoardData(source, widgets.length > 0 ? NO_QUESTION : undefined, {
    version: 0,
    ids: widgets.map(({ id }) => id),
    refreshMs: 0,
  })
  if (widgets.length === 0) return <p class="quiet small">This dashboard has no widgets yet.</p>
  return (
    <AddressPlaceContext.Provider value={place}>
      <StatsSourceContext.Provider value={stats}>
        <div class="share-preview" inert>
          <Grid widgets={widgets} data={data} source={source} question={NO_QUESTION} siteId={undefined} />
        </div>
      </StatsSourceContext.Provider>
    </AddressPlaceContext.Provider>
  )
}
