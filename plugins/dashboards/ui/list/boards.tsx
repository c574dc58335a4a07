import { useQueryClient } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { Link, Redirect, useLocation } from "wouter"
import {
  Badges,
  Button,
  type Column,
  DataTable,
  errorText,
  FilterRow,
  IconButton,
  Page,
  put,
  QueryResult,
  SearchField,
  SelectField,
  TimeAgo,
  toast,
  useFilters,
  useSiteId,
  visible,
} from "#plugin/ui"
import type { BoardRow } from "../../responses.ts"
import { boardAddress, boardsAddress, boardsPath, OVERVIEW, useBoards, useRefresh, useRights } from "../answers.ts"
import { type TemplateName, Templates } from "../sketch/templates.tsx"
import { BoardMenu } from "./board-menu.tsx"
import { ImportBoard } from "./import-board.tsx"
import { NewBoard } from "./new-board.tsx"

/** First page of the area: the dashboard that opens first, for the user or for the site. Without one, and below `/all`, the list of all. */
export default function Opening() {
  const siteId = useSiteId()
  const [path] = useLocation()
  const { data } = useBoards(siteId)
  if (path === boardsAddress(siteId)) return <Boards />
  const rows = data?.data
  const first = rows?.find(({ is_my_default }) => is_my_default) ?? rows?.find(({ is_site_default }) => is_site_default)
  if (!rows) return <Page title="Dashboards">{null}</Page>
  return <Redirect to={first ? boardAddress(siteId, first.id) : boardsAddress(siteId)} replace />
}

/** List of the dashboards of a site, Overview first, then in the user's order. */
function Boards() {
  const siteId = useSiteId()
  const [, navigate] = useLocation()
  const [filters, setFilters] = useFilters(["q", "visibility"])
  const { writes } = useRights(siteId)
  const boards = useBoards(siteId, filters)
  const [creating, setCreating] = useState<{ template?: TemplateName }>()
  const [isImporting, setImporting] = useState(false)
  const move = useOrder(siteId)
  const isFiltered = Object.keys(filters).length > 0
  const open = ({ id }: { id: number }) => navigate(boardAddress(siteId, id))
  return (
    <Page
      title="Dashboards"
      actions={
        <>
          <Button onClick={() => setImporting(true)}>Import</Button>
          <Button kind="primary" icon="plus" onClick={() => setCreating({})}>
            New dashboard
          </Button>
        </>
      }
    >
      <FilterRow label="Dashboards">
        <SearchField label="Name or description" value={filters.q ?? ""} onValue={(q) => setFilters({ q })} />
        <SelectField
          label="Visible to"
          value={filters.visibility ?? ""}
          options={[
            { value: "", label: "Anyone" },
            { value: "private", label: "Only me" },
            { value: "site", label: "Everyone on the site" },
          ]}
          onValue={(visibility) => setFilters({ visibility })}
        />
      </FilterRow>
      <QueryResult of={boards}>
        {({ data }) => (
          <>
            {data.length > 0 ? (
              <DataTable
                caption="Dashboards"
                rows={data}
                keyOf={({ id }) => id}
                columns={columnsOf(siteId, data, {
                  ...(!isFiltered && { onMove: (id: number, step: number) => void move(data, id, step) }),
                })}
              />
            ) : (
              <p class="quiet">No dashboards match these filters.</p>
            )}
            {!isFiltered && data.every(({ id }) => id === OVERVIEW) && (
              <section class="stack board-start" aria-labelledby="board-templates">
                <h2 id="board-templates" class="section-title">
                  Start with a template
                </h2>
                <Templates onChoose={(template) => setCreating({ template })} />
              </section>
            )}
          </>
        )}
      </QueryResult>
      {creating && <NewBoard siteId={siteId} writes={writes} {...creating} onCreated={open} onClose={() => setCreating(undefined)} />}
      {isImporting && <ImportBoard siteId={siteId} onImported={open} onClose={() => setImporting(false)} />}
    </Page>
  )
}

interface Moves {
  onMove?(id: number, step: number): void
}

const columnsOf = (siteId: number, all: readonly BoardRow[], { onMove }: Moves): Column<BoardRow>[] => [
  {
    id: "name",
    label: "Name",
    cell: (board) => (
      <>
        <Link href={boardAddress(siteId, board.id)}>{visible(board.name)}</Link>
        <Badges of={badgesOf(board)} />
        {board.description !== "" && <p class="small quiet">{visible(board.description)}</p>}
        <p class="small quiet narrow-only">
          {visibilityText(board)} · {ownerText(board)}
        </p>
      </>
    ),
  },
  { id: "visibility", label: "Visible to", wideOnly: true, cell: visibilityText },
  { id: "owner", label: "Owner", wideOnly: true, cell: ownerText },
  { id: "widgets", label: "Widgets", number: true, wideOnly: true, cell: ({ widget_count }) => String(widget_count) },
  {
    id: "updated",
    label: "Changed",
    wideOnly: true,
    cell: ({ id, updated_at }) => (id === OVERVIEW ? "–" : <TimeAgo at={updated_at} />),
  },
  {
    id: "actions",
    label: "Actions",
    number: true,
    cell: (board) => (
      <div class="goal-acts board-acts">
        {onMove && board.id !== OVERVIEW && all.length > 2 && (
          <>
            <IconButton
              icon="up"
              label={`Move ${visible(board.name)} up`}
              disabled={all[1]?.id === board.id}
              onClick={() => onMove(board.id, -1)}
            />
            <IconButton
              icon="down"
              label={`Move ${visible(board.name)} down`}
              disabled={all.at(-1)?.id === board.id}
              onClick={() => onMove(board.id, 1)}
            />
          </>
        )}
        <BoardMenu siteId={siteId} board={board} kind="quiet" />
      </div>
    ),
  },
]

const visibilityText = ({ id, visibility }: BoardRow): string =>
  id === OVERVIEW || visibility === "site" ? "Everyone on the site" : "Only me"

const ownerText = ({ owner }: BoardRow): string => (owner ? visible(owner.name) : "Built in")

const badgesOf = ({ is_my_default, is_site_default, shared }: BoardRow): string[] => [
  ...(is_my_default ? ["your default"] : []),
  ...(is_site_default ? ["site default"] : []),
  ...(shared ? ["shared by link"] : []),
]

/** Returns a function that moves a dashboard in the user's own order. The list shows the new order at once. */
function useOrder(siteId: number): (all: readonly BoardRow[], id: number, step: number) => Promise<void> {
  const client = useQueryClient()
  const refresh = useRefresh(siteId)
  return async (all, id, step) => {
    const from = all.findIndex((board) => board.id === id)
    const to = from + step
    if (from < 0 || to < 0 || to >= all.length) return
    const moved = all.toSpliced(from, 1).toSpliced(to, 0, all[from]!)
    client.setQueriesData<{ data: BoardRow[] }>({ queryKey: ["dashboards", siteId] }, (before) =>
      before && Array.isArray(before.data) && before.data.length === all.length ? { ...before, data: moved } : before,
    )
    try {
      await put(`${boardsPath(siteId)}/order`, { ids: moved.map((board) => board.id) })
    } catch (error) {
      toast(errorText(error as Error)) // only errors are thrown
    }
    await refresh()
  }
}
