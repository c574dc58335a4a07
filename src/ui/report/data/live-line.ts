import { useCallback, useEffect, useRef, useState } from "preact/hooks"

const FIRST_WAIT_MS = 1_000
const MAX_WAIT_MS = 30_000

export interface LiveLine {
  /** Time of the next connection attempt in epoch milliseconds; undefined while connected. */
  retryAt: number | undefined
  retryNow(): void
}

/**
 * Subscribes to the live events of a site (`GET …/live`), with one callback per event name. Reconnects after a loss, doubling
 * the delay up to 30 s. The event names must not change while the connection is open.
 */
export function useLiveLine(siteId: number, hear: Readonly<Record<string, (data: unknown) => void>>, enabled = true): LiveLine {
  const [retryAt, setRetryAt] = useState<number>()
  const latest = useRef(hear)
  latest.current = hear
  const reopen = useRef(() => {})
  useEffect(() => {
    if (!enabled) return
    let line: EventSource
    let timer: ReturnType<typeof setTimeout>
    let wait = FIRST_WAIT_MS
    const open = () => {
      clearTimeout(timer)
      line?.close()
      line = new EventSource(`/api/private/sites/${siteId}/live`)
      line.onopen = () => {
        wait = FIRST_WAIT_MS
        setRetryAt(undefined)
      }
      for (const name of Object.keys(latest.current))
        line.addEventListener(name, ({ data }: MessageEvent<string>) => latest.current[name]?.(JSON.parse(data)))
      line.onerror = () => {
        // An EventSource reconnects every few seconds without back-off, and never after an error status.
        line.close()
        setRetryAt(Date.now() + wait)
        timer = setTimeout(open, wait)
        wait = Math.min(MAX_WAIT_MS, 2 * wait)
      }
    }
    reopen.current = open
    open()
    return () => {
      clearTimeout(timer)
      line.close()
      setRetryAt(undefined)
    }
  }, [siteId, enabled])
  return { retryAt, retryNow: useCallback(() => reopen.current(), []) }
}
