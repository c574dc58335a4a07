/** Icons of sections, apart from the common set, which every first view loads. Each means one thing on all screens. */
export const SECTION_ICONS = {
  mail: { path: "M2 3.5h12v9H2zM2 4l6 5 6-5" },
  at: { path: "M10.5 8a2.5 2.5 0 1 0-5 0 2.5 2.5 0 0 0 5 0zm0 0v1a2 2 0 0 0 3.5 1.3V8a6 6 0 1 0-2.5 4.9" },
  history: { path: "M2.5 8a5.5 5.5 0 1 0 1.6-3.9M2.5 2.5v2.5h2.5M8 5v3.2l2 1.3" },
  lines: { path: "M2.5 4h11M2.5 8h11M2.5 12h7" },
  gauge: { path: "M2.5 12a6 6 0 1 1 11 0M8 10.5l2.5-4" },
  clock: { path: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.5V8l2.5 1.5" },
  stack: { path: "M2.5 3h11v3h-11zM2.5 6.5h11v3h-11zM2.5 10h11v3h-11z" },
  archive: { path: "M2 3h12v3H2zM3 6v7.5h10V6M6.5 8.5h3" },
  keyboard: { path: "M1.5 4h13v8h-13zM4 6.5h.01M6.5 6.5h.01M9 6.5h.01M11.5 6.5h.01M5 9.5h6" },
  flag: { path: "M4 14V2.5M4 3h8.5l-2 2.75 2 2.75H4" },
} as const
