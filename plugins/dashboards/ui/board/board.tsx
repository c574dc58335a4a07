import type { RefObject } from "preact"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { useLocation, useParams } from "wouter"
import {
  AddressPlaceContext,
  addressFilters,
  Button,
  ButtonLink,
  clockText,
  ErrorState,
  FilterBar,
  filterText,
  Icon,
  IgnoredAddressParts,
  MenuItem,
  NotFound,
  Page,
  Popover,
  Problem,
  type SiteAddress,
  Skeleton,
  toast,
  useSiteAddress,
  useSiteId,
  useStatsSource,
  visible,
} from "#plugin/ui"
import type { BoardFilter } from "../../board.ts"
import type { BoardResponse } from "../../responses.ts"
import { boardAddress, boardPath, boardsAddress, editAddress, OVERVIEW, useBoard, useBoards, useRights } from "../answers.ts"
import { BoardMenu } from "../list/board-menu.tsx"
import { type BoardSource, REFRESH_MS, useBoardData } from "./data.ts"
import { EmptyBoard } from "./empty-board.tsx"
import { Grid } from "./grid.tsx"
import { questionOf, useBoardRange } from "./range.ts"

/** Page of one dashboard. */
export default function BoardPage() {
  const siteId = useSiteId()
  const { dashboard: id = "" } = useParams<{ dashboard: string }>()
  const { data: board, error, refetch } = useBoard(siteId, id)
  if (error instanceof Problem && error.status === 404) return <NotFound />
  if (error && !board)
    return (
      <Page title="Dashboard">
        <ErrorState error={error} onRetry={() => void refetch()} />
      </Page>
    )
  if (!board || String(board.id) !== id)
    return (
      <Page title="Dashboard" hideTitle>
        <Skeleton rows={12} />
      </Page>
    )
  return <OpenBoard key={board.id} siteId={siteId} board={board} />
}

function OpenBoard({ siteId, board }: { siteId: number; board: BoardResponse }) {
  const place = useMemo(
    () => ({
      ...{ base: boardAddress(siteId, board.id), key: String(siteId), hasAlternatives: false },
      holds: (address: SiteAddress) => ({ ...address, any: [] }),
    }),
    [siteId, board.id],
  )
  return (
    <AddressPlaceContext.Provider value={place}>
      <Content siteId={siteId} board={board} />
    </AddressPlaceContext.Provider>
  )
}

function Content({ siteId, board }: { siteId: number; board: BoardResponse }) {
  const { address } = useSiteAddress()
  const { timezone } = useStatsSource()
  const { exports } = useRights(siteId)
  const [, navigate] = useLocation()
  const isKnown = useBoardRange(board.range)
  const area = useRef<HTMLDivElement>(null)
  const { isFull, toggle } = useFullScreen(area)
  const question = useMemo(() => (isKnown ? questionOf(address, timezone) : undefined), [address, timezone, isKnown])
  const source = useMemo((): BoardSource => {
    const path = boardPath(siteId, board.id)
    return { dataPath: `${path}/data`, csvPath: exports ? (widget) => `${path}/widgets/${widget}.csv` : undefined }
  }, [siteId, board.id, exports])
  const data = useBoardData(source, board.widgets.length > 0 ? question : undefined, {
    version: board.version,
    ids: board.widgets.map(({ id }) => id),
    refreshMs: isFull ? board.refresh_s * 1_000 : REFRESH_MS,
  })
  const isBuiltIn = board.id === OVERVIEW
  return (
    <Page
      title={visible(board.name)}
      beside={<Switcher siteId={siteId} current={board.id} />}
      actions={
        <>
          {board.can_edit && !isBuiltIn && (
            <ButtonLink icon="pencil" href={editAddress(siteId, board.id)}>
              Edit
            </ButtonLink>
          )}
          <BoardMenu
            siteId={siteId}
            board={board}
            first={[
              { label: "Full screen", run: toggle },
              { label: "Print", run: () => print() },
            ]}
            onDeleted={() => navigate(boardsAddress(siteId))}
          />
        </>
      }
    >
      {board.description !== "" && <p class="quiet board-note">{visible(board.description)}</p>}
      <BoardFilters filters={board.filters} />
      <FilterBar />
      <IgnoredAddressParts />
      <div class="board-area" ref={area} data-full={isFull || undefined}>
        {isFull && (
          <div class="row spread board-bar">
            <strong>{visible(board.name)}</strong>
            <span class="row">
              <span class="small quiet">{data.generatedAt && `Updated ${clockText(data.generatedAt, timezone)}`}</span>
              <Button onClick={toggle}>Exit full screen</Button>
            </span>
          </div>
        )}
        {board.widgets.length === 0 ? (
          <EmptyBoard siteId={siteId} board={board} />
        ) : (
          <Grid
            widgets={board.widgets}
            data={data}
            source={source}
            question={question}
            siteId={siteId}
            canRepair={board.can_edit && !isBuiltIn}
            board={board}
          />
        )}
      </div>
    </Page>
  )
}

/** Menu of the other dashboards of the site, in the user's order. */
function Switcher({ siteId, current }: { siteId: number; current: number }) {
  const { data } = useBoards(siteId)
  return (
    <Popover kind="quiet" iconOnly label="Other dashboards" button={<Icon name="down" />}>
      {() => (
        <>
          {data?.data.map(({ id, name }) => (
            <MenuItem key={id} href={boardAddress(siteId, id)}>
              {id === current ? <strong>{visible(name)}</strong> : visible(name)}
            </MenuItem>
          ))}
          <hr class="menu-line" />
          <MenuItem href={boardsAddress(siteId)}>All dashboards</MenuItem>
        </>
      )}
    </Popover>
  )
}

/** The filters of the dashboard itself, which always apply. Those in the URL are added to them. */
function BoardFilters({ filters }: { filters: readonly BoardFilter[] }) {
  if (filters.length === 0) return null
  const texts = addressFilters([...filters] as Parameters<typeof addressFilters>[0]).map((filter) => filterText(filter)) // checked when they were saved
  return (
    <p class="small quiet board-note">
      Always filtered: <strong>{texts.join(" · ")}</strong>
    </p>
  )
}

/** Shows an element on the whole screen. Escape leaves it, as everywhere in the browser. */
function useFullScreen(element: RefObject<HTMLElement | null>): { isFull: boolean; toggle(): void } {
  const [isFull, setFull] = useState(false)
  useEffect(() => {
    const onChange = () => setFull(document.fullscreenElement !== null && document.fullscreenElement === element.current)
    document.addEventListener("fullscreenchange", onChange)
    return () => document.removeEventListener("fullscreenchange", onChange)
  }, [])
  const toggle = () => {
    const done = document.fullscreenElement ? document.exitFullscreen() : element.current?.requestFullscreen()
    done?.catch(() => toast("The browser doesn't allow full screen here."))
  }
  return { isFull, toggle }
}
