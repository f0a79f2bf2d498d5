package api

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/pagehand/pagehand/models"
)

// modelInfo is an entry of the list of models.
type modelInfo struct {
	Type           string `json:"type"`
	ID             string `json:"id"`
	DisplayName    string `json:"display_name"`
	CreatedAt      string `json:"created_at"`
	MaxInputTokens int    `json:"max_input_tokens,omitempty"`
	MaxTokens      int    `json:"max_tokens,omitempty"`
}

func infoOf(m models.Model) modelInfo {
	const unknownDate = "1970-01-01T00:00:00Z" // as the API writes it
	return modelInfo{"model", m.ID, m.Name, unknownDate, m.ContextWindow, m.MaxOutput}
}

// modelList is a page of the list of models.
type modelList struct {
	Data    []modelInfo `json:"data"`
	FirstID *string     `json:"first_id"`
	LastID  *string     `json:"last_id"`
	HasMore bool        `json:"has_more"`
}

func (s *Server) listModels(w http.ResponseWriter, r *http.Request, _ string) error {
	brand, err := authorize(r.Header)
	if err != nil {
		return err
	}
	all := slices.DeleteFunc(s.options.Models.All(), func(m models.Model) bool { return m.Brand != brand })
	list, err := page(all, r.URL.Query())
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, list)
	return nil
}

func (s *Server) showModel(w http.ResponseWriter, r *http.Request, _ string) error {
	if _, err := authorize(r.Header); err != nil {
		return err
	}
	m, ok := s.options.Models.Lookup(r.PathValue("id"))
	if !ok {
		return failure("not_found_error", "model: %s", r.PathValue("id"))
	}
	writeJSON(w, http.StatusOK, infoOf(m))
	return nil
}

// page picks a part of the list of models: limit entries, after after_id or before before_id.
func page(all []models.Model, query url.Values) (modelList, error) {
	limit := 20
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1000 {
			return modelList{}, failure("invalid_request_error", "limit: %q is not a number from 1 to 1000", text)
		}
		limit = n
	}
	from, to := 0, len(all)
	if id := query.Get("after_id"); id != "" {
		i := slices.IndexFunc(all, func(m models.Model) bool { return m.ID == id })
		if i < 0 {
			return modelList{}, failure("invalid_request_error", "after_id: there is no model %q", id)
		}
		from = i + 1
	}
	if id := query.Get("before_id"); id != "" {
		i := slices.IndexFunc(all, func(m models.Model) bool { return m.ID == id })
		if i < 0 {
			return modelList{}, failure("invalid_request_error", "before_id: there is no model %q", id)
		}
		to = max(i, from)
	}
	list := modelList{Data: []modelInfo{}}
	if to-from > limit {
		list.HasMore = true
		if query.Has("before_id") {
			from = to - limit
		} else {
			to = from + limit
		}
	}
	for _, m := range all[from:to] {
		list.Data = append(list.Data, infoOf(m))
	}
	if n := len(list.Data); n > 0 {
		list.FirstID, list.LastID = &list.Data[0].ID, &list.Data[n-1].ID
	}
	return list, nil
}
