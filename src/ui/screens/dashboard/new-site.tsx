import { useQueryClient } from "@tanstack/react-query"
import { useEffect } from "preact/hooks"
import LiveCheck from "../sites/live-check.tsx"

const LOOK_MS = 10_000

/** In the place of the cards until the first event: the snippet, and what becomes of it. Then the dashboard comes by itself. */
export default function NewSite({ siteId }: { siteId: number }) {
  const client = useQueryClient()
  useEffect(() => {
    const timer = setInterval(() => {
      void client.invalidateQueries({ queryKey: ["site", siteId] })
    }, LOOK_MS)
    return () => {
      clearInterval(timer)
      // Drops are counted while one waits for an event, and were asked for before there were any.
      void client.invalidateQueries({ queryKey: ["drops", siteId] })
    }
  }, [client, siteId])
  return <LiveCheck siteId={siteId} />
}
