import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import type { ScopedAnnotationResponse } from "../../domain/annotation.ts"
import { getAll } from "../api/api.ts"
import type { DayRange } from "./data/ranges.ts"

const KEY = "notes"

export const notesPath = (siteId: number): string => `/api/private/sites/${siteId}/annotations`

/** Fetches the notes of a range of days, earliest first. */
export const useNotes = (siteId: number | undefined, range: DayRange | undefined): UseQueryResult<ScopedAnnotationResponse[], Error> =>
  useQuery({
    queryKey: [KEY, siteId, range?.from, range?.to],
    queryFn: async ({ signal }) => {
      const notes = await getAll<ScopedAnnotationResponse>(`${notesPath(siteId!)}?from=${range!.from}&to=${range!.to}&`, signal)
      return notes.sort((a, b) => (a.day < b.day || (a.day === b.day && a.id < b.id) ? -1 : 1))
    },
    staleTime: 60_000,
    enabled: siteId !== undefined && range !== undefined,
  })

export function useRefreshNotes(siteId: number): () => Promise<void> {
  const client = useQueryClient()
  return () => client.invalidateQueries({ queryKey: [KEY, siteId] })
}

/** Returns the point of a series that each note belongs to: the last one that starts no later than its day. Undefined for notes before the first point. */
export function placesOf(
  points: readonly { time: string }[],
  notes: readonly Pick<ScopedAnnotationResponse, "at" | "day">[],
): (number | undefined)[] {
  return notes.map(({ at, day }) => {
    const isByHour = (points[0]?.time.length ?? 0) > 10
    const instant = isByHour && at.includes("T") ? Date.parse(at) : undefined
    const begins = ({ time }: { time: string }) => {
      if (instant !== undefined) return Date.parse(time) <= instant
      return isByHour ? time.slice(0, 10) < day || time.startsWith(`${day}T00`) : time <= day
    }
    const place = points.findLastIndex(begins)
    return place < 0 ? undefined : place
  })
}
