/** Queries that fetch the area's answers, addresses of its pages, and what the user may do. */
import type { UseQueryResult } from "@tanstack/react-query"
import { areaQueries, canOnSite, queryOf, useMe } from "#plugin/ui"
import type { BoardResponse, BoardRow } from "../responses.ts"

export const { useSiteQuery, useSiteAnswer, useRefresh } = areaQueries("dashboards")

export const boardsPath = (siteId: number): string => `/api/private/sites/${siteId}/dashboards`
export const boardPath = (siteId: number, id: number | string): string => `${boardsPath(siteId)}/${id}`
export const boardsAddress = (siteId: number): string => `/sites/${siteId}/dashboards/all`
export const boardAddress = (siteId: number, id: number): string => `/sites/${siteId}/dashboards/${id}`
export const editAddress = (siteId: number, id: number): string => `${boardAddress(siteId, id)}/edit`

/** The built-in Overview, which can't be changed. */
export const OVERVIEW = 0

/** Returns what the user may do with the dashboards of a site. */
export function useRights(siteId: number) {
  const me = useMe()
  const can = (permission: string) => canOnSite(me, siteId, permission)
  return { writes: can("dashboards:write"), shares: can("dashboards:share"), exports: can("export:read") }
}

interface Boards {
  data: BoardRow[]
  default_dashboard_id: number
}

/** Fetches all dashboards of a site that the user sees. There are at most 51. */
export const useBoards = (siteId: number, filters: Readonly<Record<string, string>> = {}): UseQueryResult<Boards, Error> =>
  useSiteQuery<Boards>(siteId, `dashboards${queryOf({ ...filters, limit: "200" })}`)

export const useBoard = (siteId: number, id: string): UseQueryResult<BoardResponse, Error> =>
  useSiteQuery<BoardResponse>(siteId, `dashboards/${encodeURIComponent(id)}`)
