import { createStore } from "./store.ts"

export interface Toast {
  id: number
  text: string
  /** Undoes the action; offered for ten seconds. */
  undo?: () => void
}

const SECONDS = 10
export const toasts = createStore<readonly Toast[]>([])
let last = 0

export function toast(text: string, undo?: () => void): void {
  last += 1
  const id = last
  toasts.set([...toasts.get(), { id, text, ...(undo && { undo }) }])
  setTimeout(() => dismiss(id), SECONDS * 1_000)
}

export const dismiss = (id: number): void => toasts.set(toasts.get().filter((one) => one.id !== id))
