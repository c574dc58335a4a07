import { useEffect, useState } from "preact/hooks"

const waiting: (() => void)[] = []
const { port1, port2 } = new MessageChannel()
const next = () => port2.postMessage(null)
port1.onmessage = () => {
  try {
    waiting[0]!()
  } finally {
    waiting.shift()
    if (waiting.length > 0) next()
  }
}

/** Runs pieces of work in order, one per task, so that the browser can paint and handle input in between. */
export function inTurn(work: () => void): void {
  if (waiting.push(work) === 1) next()
}

/** Returns how many of a page's parts to draw: none in the first render, then one more in each task. */
export function useTurns(parts: number): number {
  const [turns, setTurns] = useState(0)
  useEffect(() => {
    for (let turn = 1; turn <= parts; turn++) inTurn(() => setTurns((before) => Math.max(before, turn)))
  }, [parts])
  return turns
}
