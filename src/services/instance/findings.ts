/** The result of a check of `doctor`. */
export interface Finding {
  status: "ok" | "warn" | "fail"
  /** Result of the check. */
  detail: string
  /** Remedy. Empty when the check passed. */
  fix: string
}

export const ok = (detail: string): Finding => ({ status: "ok", detail, fix: "" })
export const warn = (detail: string, fix: string): Finding => ({ status: "warn", detail, fix })
export const fail = (detail: string, fix: string): Finding => ({ status: "fail", detail, fix })
