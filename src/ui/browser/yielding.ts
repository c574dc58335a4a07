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

/** One piece of work per task, in the order they came: in between the page is painted, and keys and clicks are answered. */
export function inTurn(work: () => void): void {
  if (waiting.push(work) === 1) next()
}

/** How many of so many parts of a page are there by now: none in the first view, then in each turn one more. What is there stays. */
export function useTurns(parts: number): number {
  const [turns, setTurns] = useState(0)
  useEffect(() => {
    for (let turn = 1; turn <= parts; turn++) inTurn(() => setTurns((before) => Math.max(before, turn)))
  }, [parts])
  return turns
}
