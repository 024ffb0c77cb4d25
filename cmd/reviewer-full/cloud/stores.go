package cloud

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"cloud.google.com/go/storage"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"gocloud.dev/blob"
	"google.golang.org/api/googleapi"
)

const (
	etagPrefix       = "etag:"
	generationPrefix = "generation:"
)

func etag(text string) string {
	if text = strings.Trim(text, `"`); text == "" {
		return ""
	}
	return etagPrefix + text
}

func generation(n int64) string { return generationPrefix + strconv.FormatInt(n, 10) }

// listedVersion is the version of an object as a list has it.
func listedVersion(o *blob.ListObject) string {
	var inS3 types.Object
	var inGoogle storage.ObjectAttrs
	var inAzure container.BlobItem
	switch {
	case o.As(&inS3) && inS3.ETag != nil:
		return etag(*inS3.ETag)
	case o.As(&inGoogle):
		return generation(inGoogle.Generation)
	case o.As(&inAzure) && inAzure.Properties != nil && inAzure.Properties.ETag != nil:
		return etag(string(*inAzure.Properties.ETag))
	}
	return ""
}

// demand asks for one version of an object.
func demand(as func(any) bool, version string) error {
	tag, isTag := strings.CutPrefix(version, etagPrefix)
	number, _ := strings.CutPrefix(version, generationPrefix)
	var inS3 *s3.GetObjectInput
	var inGoogle **storage.ObjectHandle
	var inAzure *azblob.DownloadStreamOptions
	switch {
	case isTag && as(&inS3):
		quoted := `"` + tag + `"`
		inS3.IfMatch = &quoted
	case as(&inGoogle):
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return errors.New("the manifest has no generation for this object; write it again")
		}
		*inGoogle = (*inGoogle).Generation(n)
	case isTag && as(&inAzure):
		quoted := azcore.ETag(`"` + tag + `"`)
		inAzure.AccessConditions = &azblob.AccessConditions{ModifiedAccessConditions: &azblob.ModifiedAccessConditions{IfMatch: &quoted}}
	}
	return nil
}

// readVersion is the version that is being read; empty if the store does not say.
func readVersion(r *blob.Reader) string {
	var fromS3 s3.GetObjectOutput
	var fromGoogle *storage.Reader
	var fromAzure azblob.DownloadStreamResponse
	switch {
	case r.As(&fromS3) && fromS3.ETag != nil:
		return etag(*fromS3.ETag)
	case r.As(&fromGoogle):
		return generation(fromGoogle.Attrs.Generation)
	case r.As(&fromAzure) && fromAzure.ETag != nil:
		return etag(string(*fromAzure.ETag))
	}
	return ""
}

// expired lists codes of S3 that mean that no request with these credentials can
// succeed, for any object.
var expired = []string{"ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired", "InvalidToken",
	"InvalidAccessKeyId", "SignatureDoesNotMatch", "UnrecognizedClientException"}

func refusedCredentials(err error) bool {
	var inGoogle *googleapi.Error
	var inAzure *azcore.ResponseError
	switch {
	case slices.Contains(expired, errorCode(err)):
		return true
	case errors.As(err, &inGoogle):
		return inGoogle.Code == http.StatusUnauthorized
	case errors.As(err, &inAzure):
		return inAzure.StatusCode == http.StatusUnauthorized || inAzure.ErrorCode == "AuthenticationFailed"
	}
	return strings.Contains(err.Error(), "failed to refresh cached credentials") || strings.Contains(err.Error(), "oauth2: ")
}

// errorCode is the store's name of an error.
func errorCode(err error) string {
	var inS3 smithy.APIError
	var inAzure *azcore.ResponseError
	switch {
	case errors.As(err, &inS3):
		return inS3.ErrorCode()
	case errors.As(err, &inAzure):
		return inAzure.ErrorCode
	}
	return "refused"
}
