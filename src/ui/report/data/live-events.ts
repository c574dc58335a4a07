import { useCallback, useEffect, useRef, useState } from "preact/hooks"

const FIRST_WAIT_MS = 1_000
const MAX_WAIT_MS = 30_000

export interface LiveConnection {
  /** Time of the next connection attempt in epoch milliseconds; undefined while connected. */
  retryAt: number | undefined
  retryNow(): void
}

/**
 * Subscribes to the live events of a site (`GET …/live`), with one callback per event name. Reconnects after a loss, doubling
 * the delay up to 30 s. The event names must not change while the connection is open.
 */
export function useLiveEvents(siteId: number, handlers: Readonly<Record<string, (data: unknown) => void>>, enabled = true): LiveConnection {
  const [retryAt, setRetryAt] = useState<number>()
  const latest = useRef(handlers)
  latest.current = handlers
  const reopen = useRef(() => {})
  useEffect(() => {
    if (!enabled) return
    let connection: EventSource
    let timer: ReturnType<typeof setTimeout>
    let wait = FIRST_WAIT_MS
    const open = () => {
      clearTimeout(timer)
      connection?.close()
      connection = new EventSource(`/api/private/sites/${siteId}/live`)
      connection.onopen = () => {
        wait = FIRST_WAIT_MS
        setRetryAt(undefined)
      }
      for (const name of Object.keys(latest.current))
        connection.addEventListener(name, ({ data }: MessageEvent<string>) => latest.current[name]?.(JSON.parse(data)))
      connection.onerror = () => {
        // An EventSource reconnects every few seconds without back-off, and never after an error status.
        connection.close()
        setRetryAt(Date.now() + wait)
        timer = setTimeout(open, wait)
        wait = Math.min(MAX_WAIT_MS, 2 * wait)
      }
    }
    reopen.current = open
    open()
    return () => {
      clearTimeout(timer)
      connection.close()
      setRetryAt(undefined)
    }
  }, [siteId, enabled])
  return { retryAt, retryNow: useCallback(() => reopen.current(), []) }
}
