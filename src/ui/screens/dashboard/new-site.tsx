import { useQueryClient } from "@tanstack/react-query"
import { useEffect } from "preact/hooks"
import LiveCheck from "../sites/live-check.tsx"

const POLL_MS = 10_000

/** Replaces the cards until the first event by the snippet and the installation check, and polls for that event. */
export default function NewSite({ siteId }: { siteId: number }) {
  const client = useQueryClient()
  useEffect(() => {
    const timer = setInterval(() => {
      void client.invalidateQueries({ queryKey: ["site", siteId] })
    }, POLL_MS)
    return () => {
      clearInterval(timer)
      // The drops were fetched before there were any.
      void client.invalidateQueries({ queryKey: ["drops", siteId] })
    }
  }, [client, siteId])
  return <LiveCheck siteId={siteId} />
}
