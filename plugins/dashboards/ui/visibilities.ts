export const VISIBILITIES = [
  { value: "private", label: "Only me" },
  { value: "site", label: "Everyone on the site" },
] as const
