package ship

import (
	"context"
	"fmt"
	"net/http"

	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
)

// maxPages limits the number of pages in which a registry lists signatures.
const maxPages = 4

// openRepository returns a repository of a registry. Nothing is sent yet.
func openRepository(ref Ref, o Options) (*remote.Repository, error) {
	plain := o.PlainHTTP || Loopback(ref.host)
	login, err := o.login(ref.host)
	if err != nil {
		return nil, err
	}
	repo := &remote.Repository{
		Reference:            registry.Reference{Registry: ref.host, Repository: ref.repository},
		Client:               &auth.Client{Client: newClient(), Cache: auth.NewCache(), Credential: login, Header: http.Header{"User-Agent": {userAgent}}},
		PlainHTTP:            plain,
		MaxMetadataBytes:     maxManifest,
		ReferrerListMaxPages: maxPages,
		SkipReferrersGC:      true, // pushing must not require the right to delete
	}
	return repo, nil
}

// login returns the source of credentials: the given ones, for this registry only,
// else docker's configuration with its helpers.
func (o Options) login(host string) (auth.CredentialFunc, error) {
	if o.Username != "" {
		return auth.StaticCredential(host, auth.Credential{Username: o.Username, Password: o.Password}), nil
	}
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return nil, fmt.Errorf("read docker's configuration: %w; fix it, or give --username and --password-stdin", err)
	}
	look := credentials.Credential(store)
	return func(ctx context.Context, hostport string) (auth.Credential, error) {
		c, err := look(ctx, hostport)
		if err != nil {
			err = fmt.Errorf("read the login to %s from docker's configuration: %w; fix it, or give --username and --password-stdin", hostport, err)
		}
		return c, err
	}, nil
}
